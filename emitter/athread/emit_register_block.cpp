// SPDX-License-Identifier: Apache-2.0
// Sums of products in named vector accumulators, rows of the block axis x vectors of the lane axis, over all reduction
// axes of the box: 4 rows x 4 vectors (16 floats), more rows where the lanes fill fewer vectors, or more vectors where
// there are fewer rows. Named variables stay in registers with every compiler and at -O2; local arrays of accumulators
// do not.
#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/athread_machine.h"
#include "core/check.h"
#include "emitter/athread/block_ends.h"
#include "emitter/athread/compute_writer.h"
#include "lowering/ir/compute_form.h"

namespace stowage {
namespace {

constexpr std::int64_t lanes = lanes_of_floatv4;
constexpr std::int64_t group_lanes = register_block_vectors * lanes;

/// Vectors that one group of accumulators covers: offsets of their first lanes from the group's base.
using LaneGroup = std::vector<std::int64_t>;

/// The lanes of one group, at least four: whole vectors, the last one overlapping its neighbour where the number is
/// odd. Lanes in two vectors are computed twice from the same start and stored twice with the same value.
LaneGroup tail_group(std::int64_t count) {
  check(count >= lanes, "fewer lanes than a vector has would begin before the row");
  LaneGroup group;
  for (std::int64_t at = 0; at + lanes < count; at += lanes) group.push_back(at);
  group.push_back(count - lanes);
  return group;
}

struct Operand {
  ReadId read;
  char letter = 'a';
  bool by_block = false;
  std::int64_t lane_step = 0;  ///< 0: the same for all lanes; 1: contiguous; else gathered
};

/// Coefficient of a variable in a linear expression; nothing if it occurs inside another atom.
std::optional<std::int64_t> linear_in(const IndexExpr& e, VarId variable) {
  const std::int64_t coefficient = e.coefficient_of(variable);
  if (mentions(e - IndexExpr(variable) * coefficient, variable)) return std::nullopt;
  return coefficient;
}

const ScalarNode::Read* as_float_read(const ScalarExpr& e) {
  return e->type == ElementType::f32 ? std::get_if<ScalarNode::Read>(&e->value) : nullptr;
}

}  // namespace

class RegisterBlock {
 public:
  explicit RegisterBlock(ComputeWriter& w) : w_(w), ends_(w), lane_(w.compute_.lane_axis.value().index()) {
    if (const auto block = w.compute_.block_axis; block && w.axes_[block->index()].constant != 1)
      block_ = block->index();
    const auto& product = std::get<ScalarNode::Binary>(w.stage_.body->value);
    operands_ = {operand(product.a, 'a'), operand(product.b, 'b')};
  }

  void write() {
    std::vector<std::size_t> outer;
    for (std::size_t i = 0; i < w_.axes_.size(); ++i) {
      if (w_.axes_[i].spatial && i != lane_ && i != block_) outer.push_back(i);
    }
    for (const std::size_t i : outer) w_.open_loop(i, false);
    write_blocks();
    for (const std::size_t i : outer) w_.close_loop(i);
  }

 private:
  Operand operand(const ScalarExpr& e, char letter) const {
    Operand o;
    o.read = as_float_read(e)->read;
    o.letter = letter;
    const IndexExpr flat = w_.flat_index(*w_.compute_.read_buffers[o.read], w_.read_index(o.read));
    o.lane_step = linear_in(flat, w_.axes_[lane_].variable).value_or(0);
    o.by_block = block_ && mentions(flat, w_.axes_[*block_].variable);
    return o;
  }

  void write_blocks() {
    if (!block_) {
      write_lanes(1, 0);
      return;
    }
    const LocalAxis& block = w_.axes_[*block_];
    if (block.constant) {
      write_constant_rows(*block.constant);
      return;
    }
    if (const auto known = w_.k_.rows.find(w_.stmt_.id); known != w_.k_.rows.end()) {
      write_known_rows(known->second);
      return;
    }
    w_.k_.out.open(fmt::format("if ({} == {}) {{", block.end, block.max_extent));
    write_constant_rows(block.max_extent);
    w_.k_.out.else_branch("} else {");
    write_any_rows();
    w_.k_.out.close();
  }

  /// Each number of rows that there is for itself; there are no others.
  void write_known_rows(const KnownRows& known) {
    const LocalAxis& block = w_.axes_[*block_];
    for (const std::int64_t rows : known) {
      if (rows == known.front()) {
        w_.k_.out.open(fmt::format("if ({} == {}) {{", block.end, rows));
      } else {
        w_.k_.out.else_branch(fmt::format("}} else if ({} == {}) {{", block.end, rows));
      }
      write_constant_rows(rows);
    }
    w_.k_.out.close();
  }

  void write_constant_rows(std::int64_t count) {
    const LocalAxis& block = w_.axes_[*block_];
    block_rows_ = rows_of_block(count, w_.axes_[lane_].max_extent, lanes);
    const std::int64_t whole = count / block_rows_ * block_rows_;
    if (whole == block_rows_) {
      write_lanes(block_rows_, 0);
    } else if (whole > 0) {
      w_.k_.out.open(fmt::format("for (int {0} = 0; {0} < {1}; {0} += {2}) {{", block.name, whole, block_rows_),
                     w_.stmt_.id);
      write_lanes(block_rows_, IndexExpr(block.variable));
      w_.k_.out.close();
    }
    if (whole < count) write_lanes(count - whole, whole);
  }

  /// Fewer rows than a full tile has, whose number is not known: whole blocks, then half of one, and so on.
  void write_any_rows() {
    const LocalAxis& block = w_.axes_[*block_];
    block_rows_ = register_block_rows(w_.axes_[lane_].max_extent, lanes);
    w_.k_.out.line(fmt::format("int {} = 0;", block.name));
    for (std::int64_t rows = block_rows_; rows > 0; rows = smaller_block(rows)) {
      if (rows >= block.max_extent) continue;
      w_.k_.out.open(fmt::format("for (; {0} + {1} <= {2}; {0} += {1}) {{", block.name, rows, block.end), w_.stmt_.id);
      write_lanes(rows, IndexExpr(block.variable));
      w_.k_.out.close();
    }
  }

  /// `rows` rows of the block axis from `block_base`, all lanes.
  void write_lanes(std::int64_t rows, const IndexExpr& block_base) {
    const LocalAxis& lane = w_.axes_[lane_];
    if (lane.constant) {
      write_constant_lanes(rows, block_base, *lane.constant);
      return;
    }
    if (lane.max_extent < lanes) {
      write_any_lanes(rows, block_base);
      return;
    }
    w_.k_.out.open(fmt::format("if ({} == {}) {{", lane.end, lane.max_extent));
    write_constant_lanes(rows, block_base, lane.max_extent);
    w_.k_.out.else_branch("} else {");
    write_any_lanes(rows, block_base);
    w_.k_.out.close();
  }

  void write_constant_lanes(std::int64_t rows, const IndexExpr& block_base, std::int64_t count) {
    const LocalAxis& lane = w_.axes_[lane_];
    const std::int64_t of_group = vectors_of_group(count, rows, lanes) * lanes;
    std::int64_t whole = count / of_group;
    // One to three lanes beyond the last group cannot fill a vector: that group gives some of its own.
    if (count % of_group > 0 && count % of_group < lanes && whole > 0) --whole;
    if (whole > 1) {
      w_.k_.out.open(fmt::format("for (int {0} = 0; {0} < {1}; {0} += {2}) {{", lane.name, whole * of_group, of_group),
                     w_.stmt_.id);
      write_group(rows, block_base, IndexExpr(lane.variable), tail_group(of_group));
      w_.k_.out.close();
    } else if (whole == 1) {
      write_group(rows, block_base, 0, tail_group(of_group));
    }
    std::int64_t from = whole * of_group;
    if (count - from > of_group && of_group > lanes) {
      write_group(rows, block_base, from, tail_group(of_group - lanes));
      from += of_group - lanes;
    }
    if (count > from) write_group(rows, block_base, from, tail_group(count - from));
  }

  /// Any number of lanes: groups of four vectors, then single vectors, then single lanes.
  void write_any_lanes(std::int64_t rows, const IndexExpr& block_base) {
    const LocalAxis& lane = w_.axes_[lane_];
    const IndexExpr variable(lane.variable);
    w_.k_.out.line(fmt::format("int {} = 0;", lane.name));
    for (const std::int64_t step : {group_lanes, lanes}) {
      if (lane.max_extent <= step) continue;  // a full tile has a version of its own
      w_.k_.out.open(fmt::format("for (; {0} + {1} <= {2}; {0} += {1}) {{", lane.name, step, lane.end), w_.stmt_.id);
      write_group(rows, block_base, variable, tail_group(step));
      w_.k_.out.close();
    }
    w_.k_.out.open(fmt::format("for (; {0} < {1}; {0}++) {{", lane.name, lane.end), w_.stmt_.id);
    write_group(rows, block_base, variable, {});
    w_.k_.out.close();
  }

  /// The accumulators of one group: loaded, summed over all reductions, stored. No vectors: one lane in plain floats.
  void write_group(std::int64_t rows, const IndexExpr& block_base, const IndexExpr& lane_base, const LaneGroup& group) {
    CWriter& out = w_.k_.out;
    const bool vectors = !group.empty();
    const LaneGroup offsets = vectors ? group : LaneGroup{0};
    const std::string type = vectors ? "floatv4" : "float";
    rows_ = rows;
    block_base_ = block_base;
    lane_base_ = lane_base;
    vectors_ = vectors;

    // A group in a loop of lanes has the loop's braces.
    const bool own_braces = lane_base.is_constant();
    if (own_braces) out.open("{");
    for (std::int64_t r = 0; r < rows; ++r) {
      std::vector<std::string> names;
      for (std::size_t v = 0; v < offsets.size(); ++v) names.push_back(AccumulatorGroup::name(r, v));
      out.line(fmt::format("{} {};", type, fmt::join(names, ", ")));
    }
    const auto for_each_accumulator = [&](ComputeWriter& of, std::string_view vector_call, bool store) {
      const BufferUse& output = of.compute_.output_buffer;
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::size_t v = 0; v < offsets.size(); ++v) {
          const auto index = at_lane(of.output_index(), r, offsets[v]);
          const std::string name = AccumulatorGroup::name(r, v);
          const std::string place = of.element(output, index);
          if (vectors) {
            const char* suffix = aligned(output, index) ? "" : "u";
            out.line(fmt::format("{}{}({}, &{});", vector_call, suffix, name, place));
          } else {
            out.line(store ? fmt::format("{} = {};", place, name) : fmt::format("{} = {};", name, place));
          }
        }
      }
    };
    const AccumulatorGroup accumulators{
        rows, offsets, vectors,
        [&](std::vector<IndexExpr> index, std::int64_t row, std::int64_t at) {
          return at_lane(std::move(index), row, at);
        },
        [&](BufferId buffer, const std::vector<IndexExpr>& index) { return aligned(buffer, index); }};
    ends_.write_start(accumulators, [&] { for_each_accumulator(w_, "simd_load", false); });
    const std::size_t spatial = w_.stage_.spatial;
    for (std::size_t i = spatial; i < w_.axes_.size(); ++i) w_.open_loop(i, false);
    write_products(rows, offsets, type);
    for (std::size_t i = spatial; i < w_.axes_.size(); ++i) w_.close_loop(i);
    ends_.write_ends(accumulators);
    for_each_accumulator(ends_.stored(), "simd_store", true);
    if (own_braces) out.close();
  }

  void write_products(std::int64_t rows, const LaneGroup& offsets, const std::string& type) {
    CWriter& out = w_.k_.out;
    const auto reduced = std::span(w_.axes_).subspan(w_.stage_.spatial);
    const bool loops =
        std::any_of(reduced.begin(), reduced.end(), [](const LocalAxis& axis) { return axis.constant != 1; });
    if (!loops) out.open("{");
    for (const Operand& o : operands_) {
      std::vector<std::string> names;
      for (std::int64_t r = 0; r < (o.by_block ? rows : 1); ++r) {
        for (std::size_t v = 0; v < (o.lane_step != 0 ? offsets.size() : 1); ++v) names.push_back(name_of(o, r, v));
      }
      out.line(fmt::format("{} {};", type, fmt::join(names, ", ")));
    }
    const auto load = [&](const Operand& o, std::int64_t row) {
      for (std::size_t v = 0; v < (o.lane_step != 0 ? offsets.size() : 1); ++v) {
        write_load(o, row, offsets[v], name_of(o, row, v));
      }
    };
    for (const Operand& o : operands_) {
      if (!o.by_block) load(o, 0);
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      for (const Operand& o : operands_) {
        if (o.by_block) load(o, r);
      }
      for (std::size_t v = 0; v < offsets.size(); ++v) {
        const std::string a = name_of(operands_[0], r, v);
        const std::string b = name_of(operands_[1], r, v);
        out.line(vectors_ ? fmt::format("acc{0}{1} = simd_vmas({2}, {3}, acc{0}{1});", r, v, a, b)
                          : fmt::format("acc{0}{1} += {2} * {3};", r, v, a, b));
      }
    }
    if (!loops) out.close();
  }

  [[nodiscard]] static std::string name_of(const Operand& o, std::int64_t row, std::size_t vector) {
    std::string name(1, o.letter);
    if (o.by_block) name += std::to_string(row);
    if (o.lane_step != 0) name += (o.by_block ? "_" : "") + std::to_string(vector);
    return name + "_";
  }

  void write_load(const Operand& o, std::int64_t row, std::int64_t lane, const std::string& name) {
    const BufferUse& buffer = *w_.compute_.read_buffers[o.read];
    const auto place = [&](std::int64_t offset) {
      return w_.element(buffer, at_lane(w_.read_index(o.read), row, lane + offset));
    };
    if (!vectors_) {
      w_.k_.out.line(fmt::format("{} = {};", name, place(0)));
    } else if (o.lane_step == 0) {
      w_.k_.out.line(fmt::format("simd_loade({}, &{});", name, place(0)));
    } else if (o.lane_step == 1) {
      const char* suffix = aligned(buffer, at_lane(w_.read_index(o.read), row, lane)) ? "" : "u";
      w_.k_.out.line(fmt::format("simd_load{}({}, &{});", suffix, name, place(0)));
    } else {
      w_.k_.out.line(
          fmt::format("{} = simd_set_floatv4({}, {}, {}, {});", name, place(0), place(1), place(2), place(3)));
    }
  }

  /// An index with the block axis at row `row` and the lane axis at `lane` of the present group.
  [[nodiscard]] std::vector<IndexExpr> at_lane(std::vector<IndexExpr> index, std::int64_t row,
                                               std::int64_t lane) const {
    for (IndexExpr& e : index) {
      e = substitute(e, [&](VarId v) -> IndexExpr {
        if (v == w_.axes_[lane_].variable) return lane_base_ + IndexExpr(lane);
        if (block_ && v == w_.axes_[*block_].variable) return block_base_ + IndexExpr(row);
        return v;
      });
    }
    return index;
  }

  /// True if the element is at a multiple of 16 bytes whatever the loops do. Lane loops step by whole vectors, block
  /// loops by whole blocks, and by smaller ones behind these.
  [[nodiscard]] bool aligned(BufferId buffer, const std::vector<IndexExpr>& index) const {
    std::vector<VarId> by_vectors = {w_.axes_[lane_].variable};
    if (block_ && block_rows_ % lanes == 0 && rows_ % lanes == 0) by_vectors.push_back(w_.axes_[*block_].variable);
    return w_.begins_vector(buffer, index, by_vectors);
  }

  ComputeWriter& w_;
  BlockEnds ends_;
  std::size_t lane_;
  std::optional<std::size_t> block_;
  std::int64_t block_rows_ = 1;
  std::vector<Operand> operands_;
  // Of the group being written.
  std::int64_t rows_ = 1;
  IndexExpr block_base_;
  IndexExpr lane_base_;
  bool vectors_ = true;
};

bool ComputeWriter::can_block_registers() const {
  if (compute_.part != Compute::Part::update || stage_.reduction != Reduction::sum) return false;
  if (output_type() != ElementType::f32 || !compute_.lane_axis || compute_.lane_axis->index() >= stage_.spatial)
    return false;
  const LocalAxis& lane = axes_[compute_.lane_axis->index()];
  if (lane.max_extent < lanes) return false;
  const auto* product = std::get_if<ScalarNode::Binary>(&stage_.body->value);
  if (product == nullptr || product->op != BinaryOp::multiply) return false;
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
  for (const ScalarExpr& e : {product->a, product->b}) {
    const ScalarNode::Read* read = as_float_read(e);
    if (read == nullptr) return false;
    if (!lane_step(*compute_.read_buffers[read->read], read_index(read->read))) return false;
  }
  return true;
}

void ComputeWriter::write_register_block() { RegisterBlock(*this).write(); }

}  // namespace stowage
