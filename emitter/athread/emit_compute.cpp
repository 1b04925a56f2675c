// SPDX-License-Identifier: Apache-2.0
// Compute statements as plain loops: the scalar and the vector form. Register blocks are in emit_register_block.cpp.
#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "core/athread_machine.h"
#include "core/check.h"
#include "emitter/athread/compute_writer.h"
#include "lowering/ir/compute_form.h"

namespace stowage {

namespace {

/// In local indices tensor_value(r) with r from here on is the value of read r - first_read, smaller numbers are
/// buffers.
constexpr std::size_t first_read = std::size_t{1} << 20;

}  // namespace

ComputeWriter::ComputeWriter(KernelContext& context, const Stmt& statement, const Compute& computation)
    : k_(context), stmt_(statement), compute_(computation), stage_(context.nest.stages.stages[computation.stage]) {
  const std::size_t count = compute_.part == Compute::Part::finish ? stage_.spatial : stage_.axes.size();
  check(compute_.box.size() >= count, "a computation's box has fewer ranges than its stage has axes");
  // Inner names in braces of their own: only nest variables and tensors of the function must stay visible.
  IdentifierPool local = k_.pool;
  for (std::size_t i = 0; i < count; ++i) {
    const Range& range = compute_.box[i];
    LocalAxis axis;
    axis.variable = VarId(k_.nest.variables.size() + i);
    const std::string base = k_.canonical ? fmt::format("axis{}", i) : c_name(stage_.axes[i].name);
    axis.name = local.take(base + "i");
    axis.max_extent = range.max_extent;
    if (range.extent.is_constant()) {
      axis.constant = range.extent.constant();
      axis.end = std::to_string(*axis.constant);
    } else {
      // An extent that is a variable of the nest has a name already.
      axis.end_is_named = is_name(range.extent);
      axis.end = axis.end_is_named ? k_.index(range.extent) : local.take(base + "_n");
    }
    axis.spatial = i < stage_.spatial;
    axes_.push_back(std::move(axis));
  }
}

IndexExpr ComputeWriter::point(std::size_t axis) const {
  const IndexExpr& start = compute_.box[axis].start;
  return axes_[axis].constant == 1 ? start : start + IndexExpr(axes_[axis].variable);
}

IndexNames ComputeWriter::names() {
  IndexNames names;
  names.variable = [this](VarId v) {
    const std::size_t nest_variables = k_.nest.variables.size();
    return v.index() < nest_variables ? k_.variables[v.index()] : axes_.at(v.index() - nest_variables).name;
  };
  names.range = [this](VarId v) {
    const std::size_t nest_variables = k_.nest.variables.size();
    if (v.index() < nest_variables) return k_.range(v);
    return Interval{0, std::max<std::int64_t>(0, axes_.at(v.index() - nest_variables).max_extent - 1)};
  };
  names.read_value = [this](ReadId number) {
    return number.index() >= first_read ? read(ReadId(number.index() - first_read))
                                        : k_.first_element(BufferId(number.index()));
  };
  names.table = [this](const std::shared_ptr<const IndexTable>& table) { return k_.table(table); };
  return names;
}

IndexExpr ComputeWriter::at_point(const IndexExpr& e) const {
  const IndexExpr numbered = renumber_reads(e, [&](ReadId read) {
    const auto& buffer = compute_.read_buffers.at(read);
    check(buffer.has_value(), "an index that needs a read without a buffer");
    const auto& extents = k_.nest.buffers[*buffer].extents;
    return ReadId(element_count(extents) == 1 ? buffer->buffer.index() : first_read + read.index());
  });
  return substitute(numbered, [&](VarId axis) { return point(axis.index()); });
}

std::vector<IndexExpr> ComputeWriter::local_index(const BufferUse& use, const std::vector<IndexExpr>& index) const {
  const Buffer& held = k_.nest.buffers[use.buffer];
  const std::vector<IndexExpr>& origin = origin_of(k_.nest, use);
  check(index.size() == held.extents.size(), "an access of another rank than its buffer");
  std::vector<IndexExpr> local;
  for (std::size_t d = 0; d < index.size(); ++d) {
    if (held.extents[d] == 1) {
      local.emplace_back(0);
      continue;
    }
    local.push_back(at_point(index[d]) - origin[d]);
  }
  return local;
}

std::vector<IndexExpr> ComputeWriter::output_index() const {
  std::vector<IndexExpr> index;
  for (const VarId axis : stage_.spatial_axes()) index.emplace_back(axis);
  return local_index(compute_.output_buffer, index);
}

std::vector<IndexExpr> ComputeWriter::read_index(ReadId read) const {
  check(compute_.read_buffers.contains(read) && compute_.read_buffers[read].has_value(), "a read without a buffer");
  return local_index(*compute_.read_buffers[read], stage_.reads[read].index);
}

std::string ComputeWriter::element(const BufferUse& use, const std::vector<IndexExpr>& local) {
  std::vector<std::string> text;
  const IndexNames with = names();
  for (const IndexExpr& e : local) text.push_back(c_index(e, with));
  return k_.element(use, text);
}

std::string ComputeWriter::read(ReadId read) { return element(*compute_.read_buffers[read], read_index(read)); }

std::string ComputeWriter::output() { return element(compute_.output_buffer, output_index()); }

ElementType ComputeWriter::output_type() const { return k_.nest.buffers[compute_.output_buffer].type; }

IndexExpr ComputeWriter::flat_index(BufferId buffer, const std::vector<IndexExpr>& local) const {
  const auto strides = row_major_strides(k_.nest.buffers[buffer].extents);
  IndexExpr flat;
  for (std::size_t d = 0; d < local.size(); ++d) flat += local[d] * strides[d];
  return flat;
}

bool ComputeWriter::begins_vector(BufferId buffer, const std::vector<IndexExpr>& local,
                                  std::span<const VarId> by_vectors) const {
  const Buffer& held = k_.nest.buffers[buffer];
  const IndexExpr flat = flat_index(buffer, local);
  if (held.offset % bytes_of_floatv4 != 0 || (held.slots > 1 && held.slot_bytes() % bytes_of_floatv4 != 0))
    return false;
  if (flat.constant() % lanes_of_floatv4 != 0) return false;
  return std::all_of(flat.terms().begin(), flat.terms().end(), [&](const IndexTerm& term) {
    const bool steps_by_vectors =
        term.atom.kind == IndexAtom::Kind::variable &&
        std::find(by_vectors.begin(), by_vectors.end(), term.atom.variable) != by_vectors.end();
    return steps_by_vectors || term.coefficient % lanes_of_floatv4 == 0;
  });
}

std::string ComputeWriter::value(const ScalarExpr& e, const std::string& accumulator) {
  int temporaries = 0;
  ScalarNames with;
  with.read = [this](ReadId r) { return read(r); };
  with.accumulator = accumulator;
  with.index = [this](const IndexExpr& index) { return c_index(at_point(index), names()); };
  with.temporary = [&](ElementType type, const std::string& text) {
    std::string name = fmt::format("t{}_", temporaries++);
    k_.out.line(fmt::format("const {} {} = {};", c_name_of(type), name, text));
    return name;
  };
  return without_outer_parentheses(c_scalar(e, with));
}

void ComputeWriter::open_loop(std::size_t axis, bool full) {
  const LocalAxis& a = axes_[axis];
  if (a.constant == 1) return;
  const std::string end = full ? std::to_string(a.max_extent) : a.end;
  k_.out.open(fmt::format("for (int {0} = 0; {0} < {1}; {0}++) {{", a.name, end), stmt_.id);
}

void ComputeWriter::close_loop(std::size_t axis) {
  if (axes_[axis].constant != 1) k_.out.close();
}

void ComputeWriter::write_combine(const std::string& to) {
  const std::string body = value(stage_.body, to);
  const ElementType type = output_type();
  const auto combined = [&](BinaryOp op) { return fmt::format("{} = {};", to, c_binary(op, type, to, body)); };
  const auto in_place = [&](BinaryOp op, std::string_view sign) {
    return is_float(type) ? fmt::format("{} {}= {};", to, sign, body) : combined(op);
  };
  std::string line;
  switch (stage_.reduction) {
    case Reduction::sum: line = in_place(BinaryOp::add, "+"); break;
    case Reduction::product: line = in_place(BinaryOp::multiply, "*"); break;
    case Reduction::maximum: line = combined(BinaryOp::maximum); break;
    case Reduction::minimum: line = combined(BinaryOp::minimum); break;
    case Reduction::none: line = fmt::format("{} = {};", to, body); break;
  }
  k_.out.line(std::move(line), stmt_.id);
}

void ComputeWriter::write_assignment() {
  const std::string to = output();
  const bool finish = compute_.part == Compute::Part::finish;
  k_.out.line(fmt::format("{} = {};", to, value(finish ? stage_.finish : stage_.body, to)), stmt_.id);
}

/// Spatial loops outside, reductions inside them in a local accumulator.
void ComputeWriter::write_scalar() {
  const std::size_t spatial = stage_.spatial;
  for (std::size_t i = 0; i < spatial; ++i) open_loop(i, false);
  const bool reduces = compute_.part == Compute::Part::update;
  if (!reduces) {
    write_assignment();
  } else {
    const auto outer = std::span(axes_).first(spatial);
    const bool braces =
        std::all_of(outer.begin(), outer.end(), [](const LocalAxis& axis) { return axis.constant == 1; });
    if (braces) k_.out.open("{");
    const std::string to = output();
    k_.out.line(fmt::format("{} acc_ = {};", c_name_of(output_type()), to), stmt_.id);
    for (std::size_t i = spatial; i < axes_.size(); ++i) open_loop(i, false);
    write_combine("acc_");
    for (std::size_t i = spatial; i < axes_.size(); ++i) close_loop(i);
    k_.out.line(fmt::format("{} = acc_;", to));
    if (braces) k_.out.close();
  }
  for (std::size_t i = 0; i < spatial; ++i) close_loop(i);
}

/// Spatial loops but the lanes, then reductions, then the lanes: innermost and contiguous in the output.
void ComputeWriter::write_vector() {
  const std::size_t lane = compute_.lane_axis.value().index();
  check(lane < stage_.spatial, "lanes along an axis that is not spatial");
  std::vector<std::size_t> outer;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (i != lane) outer.push_back(i);
  }
  const auto loops = [&](bool full) {
    for (const std::size_t i : outer) open_loop(i, false);
    open_loop(lane, full);
    if (compute_.part == Compute::Part::update) {
      write_combine(output());
    } else {
      write_assignment();
    }
    close_loop(lane);
    for (const std::size_t i : outer) close_loop(i);
  };
  if (axes_[lane].constant) {
    loops(false);
    return;
  }
  // A constant number of trips is what compilers turn into vector code without a remainder.
  k_.out.open(fmt::format("if ({} == {}) {{", axes_[lane].end, axes_[lane].max_extent));
  loops(true);
  k_.out.else_branch("} else {");
  loops(false);
  k_.out.close();
}

void ComputeWriter::write() {
  if (!stmt_.note.empty()) k_.comment(stmt_.note);
  const bool blocks = compute_.form == ComputeForm::register_block && can_block_registers();
  check(blocks || !k_.chains.contains(stmt_.id), "a sum that is not in register blocks has no registers for others");
  check(!blocks || k_.target.cores.vector_lanes == lanes_of_floatv4,
        "a register block for a target whose vectors are no floatv4");
  const bool gathers = lane_loop(k_.nest, compute_, k_.target) != LaneLoop::plain;
  const bool scoped = std::any_of(axes_.begin(), axes_.end(), [&](const LocalAxis& axis) {
    return axis.needs_name() || ((blocks || gathers) && !axis.constant);  // loop variables that outlive their loop
  });
  const bool nothing = std::any_of(axes_.begin(), axes_.end(),
                                   [](const LocalAxis& axis) { return axis.constant && *axis.constant <= 0; });
  if (nothing) return;
  const bool single =
      !scoped && std::all_of(axes_.begin(), axes_.end(), [](const LocalAxis& axis) { return axis.constant == 1; });
  if (scoped || single) k_.out.open("{");
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (!axes_[i].needs_name()) continue;
    k_.out.line(fmt::format("const int {} = {};", axes_[i].end, k_.index(compute_.box[i].extent)));
  }
  if (blocks) {
    write_register_block();
  } else if (gathers) {
    write_gathered();
  } else if (compute_.form != ComputeForm::scalar && compute_.lane_axis) {
    write_vector();
  } else {
    write_scalar();
  }
  if (scoped || single) k_.out.close();
}

void emit_compute(KernelContext& k, const Stmt& stmt, const Compute& compute) {
  ComputeWriter(k, stmt, compute).write();
}

std::optional<std::int64_t> linear_in(const IndexExpr& e, VarId variable) {
  const std::int64_t coefficient = e.coefficient_of(variable);
  return mentions(e - IndexExpr(variable) * coefficient, variable) ? std::nullopt : std::optional(coefficient);
}

const ScalarNode::Read* as_float_read(const ScalarExpr& e) {
  return e->type == ElementType::f32 ? std::get_if<ScalarNode::Read>(&e->value) : nullptr;
}

bool ComputeWriter::can_block_registers() const {
  if (compute_.part != Compute::Part::update) return false;
  if (output_type() != ElementType::f32 || !compute_.lane_axis || compute_.lane_axis->index() >= stage_.spatial)
    return false;
  const LocalAxis& lane = axes_[compute_.lane_axis->index()];
  if (lane.max_extent < lanes_of_floatv4) return false;
  const auto* product = std::get_if<ScalarNode::Binary>(&stage_.body->value);
  const bool pools = as_float_read(stage_.body) != nullptr &&
                     (stage_.reduction == Reduction::sum || stage_.reduction == Reduction::maximum);
  if (!pools && (stage_.reduction != Reduction::sum || product == nullptr || product->op != BinaryOp::multiply))
    return false;
  const auto lane_step = [&](BufferId buffer, const std::vector<IndexExpr>& local) -> std::optional<std::int64_t> {
    const auto strides = row_major_strides(k_.nest.buffers[buffer].extents);
    IndexExpr flat;
    for (std::size_t d = 0; d < local.size(); ++d) {
      if (!tensor_values_of(local[d]).empty()) return std::nullopt;
      flat += local[d] * strides[d];
    }
    return linear_in(flat, lane.variable);
  };
  if (lane_step(compute_.output_buffer, output_index()) != 1) return false;
  const std::vector<ScalarExpr> terms = pools ? std::vector{stage_.body} : std::vector{product->a, product->b};
  for (const ScalarExpr& e : terms) {
    const ScalarNode::Read* read = as_float_read(e);
    if (read == nullptr) return false;
    if (!lane_step(*compute_.read_buffers[read->read], read_index(read->read))) return false;
  }
  return true;
}

}  // namespace stowage
