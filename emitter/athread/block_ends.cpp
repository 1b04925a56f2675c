// SPDX-License-Identifier: Apache-2.0
#include "emitter/athread/block_ends.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emitter/athread/vector_expression.h"
#include "lowering/ir/compute_form.h"

namespace stowage {

BlockEnds::BlockEnds(ComputeWriter& sum) : sum_(sum) {
  const auto found = sum.k_.chains.find(sum.stmt_.id);
  if (found == sum.k_.chains.end()) return;
  chain_ = &found->second;
  for (const Stmt* end : chain_->ends) {
    ComputeWriter& writer = ends_.emplace_back(sum.k_, *end, std::get<Compute>(end->node));
    // It is computed in the loops of the sum, axis for axis.
    for (std::size_t i = 0; i < writer.axes_.size(); ++i) writer.axes_[i].name = sum.axes_[i].name;
  }
}

/// Whether this is the first trip of all loops around the sum that the fill stands outside of, or the last one.
std::string BlockEnds::trip(bool last) {
  std::vector<std::string> conditions;
  for (const Loop* loop : chain_->trips) {
    const std::string& variable = sum_.k_.variables[loop->variable.index()];
    conditions.push_back(fmt::format("{} == {}", variable, last ? sum_.k_.index(loop->extent - 1) : "0"));
  }
  return fmt::format("{}", fmt::join(conditions, " && "));
}

void BlockEnds::write_start(const AccumulatorGroup& group, const std::function<void()>& write_loads) {
  if (chain_ == nullptr || chain_->start == nullptr) {
    write_loads();
    return;
  }
  CWriter& out = sum_.k_.out;
  const auto& fill = std::get<Fill>(chain_->start->node);
  const std::string value = c_constant(ElementType::f32, fill.value);
  if (!chain_->trips.empty()) out.open(fmt::format("if ({}) {{", trip(false)), chain_->start->id);
  for (std::int64_t r = 0; r < group.rows; ++r) {
    std::string alone;
    for (const VectorStrip& strip : group.strips) {
      const std::string name = strip_name(AccumulatorGroup::row_name(r), strip);
      if (strip.is_one()) {
        alone += name + " = ";
      } else {
        out.line(fmt::format("{}({}, {});", strip_macro("SET", strip), name, value), chain_->start->id);
      }
    }
    if (alone.empty()) continue;
    alone += group.vectors ? fmt::format("simd_set_floatv4({0}, {0}, {0}, {0})", value) : value;
    out.line(alone + ";", chain_->start->id);
  }
  if (chain_->trips.empty()) return;
  out.else_branch("} else {");
  write_loads();
  out.close();
}

void BlockEnds::write_ends(const AccumulatorGroup& group) {
  if (ends_.empty()) return;
  CWriter& out = sum_.k_.out;
  vectors_.clear();
  temporaries_ = 0;
  for (std::int64_t r = 0; r < group.rows; ++r) {
    for (const VectorStrip& strip : group.strips) {
      if (!strip.is_one())
        out.line(fmt::format("{}({});", strip_macro("APART", strip), strip_name(AccumulatorGroup::row_name(r), strip)));
    }
  }
  out.open(chain_->trips.empty() ? "{" : fmt::format("if ({}) {{", trip(true)), chain_->ends.front()->id);
  for (ComputeWriter& end : ends_) write_end(end, group);
  out.close();
}

/// The read that is the sum, or what was computed in its place before.
bool BlockEnds::goes_on(const ComputeWriter& end, ReadId read) {
  const auto& buffers = end.k_.nest.buffers;
  return buffers[*end.compute_.read_buffers[read]].offset == buffers[end.compute_.output_buffer].offset;
}

void BlockEnds::write_end(ComputeWriter& end, const AccumulatorGroup& group) {
  CWriter& out = end.k_.out;
  std::int64_t row = 0;
  std::size_t vector = 0;
  VectorExpression vectors(
      out,
      {[&](const std::string& text) { return constant_of(text); },
       [&](ReadId read) { return vector_of(end, read, group, row, vector); }, [] { return std::string(); }},
      temporaries_);
  ScalarNames names;
  names.read = [&](ReadId read) {
    if (goes_on(end, read)) return group.name(row, vector);
    return end.element(*end.compute_.read_buffers[read], group.at(end.read_index(read), row, 0));
  };
  names.temporary = [&](ElementType type, const std::string& text) {
    std::string name = fmt::format("t{}_", temporaries_++);
    out.line(fmt::format("const {} {} = {};", c_name_of(type), name, text));
    return name;
  };
  for (row = 0; row < group.rows; ++row) {
    for (vector = 0; vector < group.offsets.size(); ++vector) {
      const std::string result =
          group.vectors ? vectors.value(end.stage_.body) : without_outer_parentheses(c_scalar(end.stage_.body, names));
      out.line(fmt::format("{} = {};", group.name(row, vector), result), end.stmt_.id);
      vectors.forget();  // what was computed of the accumulator as it was
    }
  }
  temporaries_ = vectors.next_temporary();
}

std::string BlockEnds::constant_of(const std::string& text) {
  const auto [known, is_new] = vectors_.emplace(text, fmt::format("c{}_", vectors_.size()));
  if (is_new) sum_.k_.out.line(fmt::format("floatv4 {0} = simd_set_floatv4({1}, {1}, {1}, {1});", known->second, text));
  return known->second;
}

std::string BlockEnds::vector_of(ComputeWriter& end, ReadId read, const AccumulatorGroup& group, std::int64_t row,
                                 std::size_t vector) {
  if (goes_on(end, read)) return group.name(row, vector);
  const BufferUse& buffer = *end.compute_.read_buffers[read];
  const bool one = lane_use(end.stage_.reads[read], *end.compute_.lane_axis) == LaneUse::none;
  const std::vector<IndexExpr> index = group.at(end.read_index(read), row, one ? 0 : group.offsets[vector]);
  const std::string_view call = one ? "simd_loade" : group.is_aligned(buffer, index) ? "simd_load" : "simd_loadu";
  const std::string place = end.element(buffer, index);
  const auto [known, is_new] =
      vectors_.emplace(fmt::format("{} {}", call, place), fmt::format("v{}_", vectors_.size()));
  if (is_new) {
    end.k_.out.line(fmt::format("floatv4 {};", known->second));
    end.k_.out.line(fmt::format("{}({}, &{});", call, known->second, place));
  }
  return known->second;
}

}  // namespace stowage
