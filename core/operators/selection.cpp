// SPDX-License-Identifier: Apache-2.0
// Operators that pick elements by table or by value: Gather, Pad. (Resize: resize.cpp.)
#include <algorithm>

#include <fmt/format.h>

#include "core/operators/define.h"
#include "core/operators/resize.h"

namespace stowage::operators {
namespace {

OperatorDefinition gather(Definer& d) {
  const StageTensorId data = d.operand(0);
  const StageTensorId indices = d.operand(1);
  d.require_rank(data, 1, 64);
  if (!is_integer(d.type(indices))) {
    d.refuse("type-mismatch", fmt::format("indices are {}, integers were wanted", name_of(d.type(indices))));
  }
  const Shape from = d.shape(data);
  const Shape picked = d.shape(indices);
  const std::size_t axis = d.axis(int_attribute(d.attributes(), "axis", 0), from.size());
  Shape to(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(axis));
  to.insert(to.end(), picked.begin(), picked.end());
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(axis) + 1, from.end());
  if (from[axis] == 0 && element_count(picked) != 0) {
    d.refuse("shape-mismatch", fmt::format("nothing to pick from along axis {} of {}", axis, to_text(from)));
  }
  if (const auto& known = d.value(indices)) {
    for (std::int64_t i = 0; i < known->size(); ++i) {
      const std::int64_t at = known->as_int64(i);
      if (at >= -from[axis] && at < from[axis]) continue;
      d.refuse("index-out-of-range", fmt::format("index {} along axis {} of {}", at, axis, to_text(from)));
    }
  }
  StageDraft stage(d, "gather");
  const auto at = stage.axes(to);
  const auto picked_begin = at.begin() + static_cast<std::ptrdiff_t>(axis);
  const auto picked_end = picked_begin + static_cast<std::ptrdiff_t>(picked.size());
  stage.read(indices, {picked_begin, picked_end});
  std::vector<IndexExpr> source(at.begin(), picked_begin);
  source.push_back(tensor_value(stage.last_read(), std::max<std::int64_t>(1, from[axis])));
  source.insert(source.end(), picked_end, at.end());
  stage.output(stage.read(data, std::move(source)));
  return d.done();
}

enum class PadMode { constant, reflect, edge, wrap };

PadMode pad_mode(const Definer& d) {
  const std::string mode = string_attribute(d.attributes(), "mode", "constant");
  if (mode == "constant") return PadMode::constant;
  if (mode == "reflect") return PadMode::reflect;
  if (mode == "edge") return PadMode::edge;
  if (mode == "wrap") return PadMode::wrap;
  d.refuse("bad-attribute", fmt::format("attribute mode is '{}'", mode), "constant, reflect, edge or wrap");
}

/// Source position of a position outside [0, extent) (constant has none).
std::int64_t pad_source(PadMode mode, std::int64_t position, std::int64_t extent) {
  if (mode == PadMode::edge || extent == 1) return std::clamp<std::int64_t>(position, 0, extent - 1);
  if (mode == PadMode::wrap) return floor_mod(position, extent);
  const std::int64_t period = 2 * (extent - 1);  // reflect: the edge itself is not repeated
  const std::int64_t phase = floor_mod(position, period);
  return phase < extent ? phase : period - phase;
}

OperatorDefinition pad(Definer& d) {
  const StageTensorId x = d.operand(0);
  const Shape from = d.shape(x);
  const std::size_t rank = from.size();
  const PadMode mode = pad_mode(d);
  const auto pads = ints_attribute(d.attributes(), "pads", {});
  if (pads.size() != 2 * rank) {
    d.refuse("bad-attribute", fmt::format("attribute pads has {} numbers, {} were wanted", pads.size(), 2 * rank));
  }
  Shape to = from;
  for (std::size_t k = 0; k < rank; ++k) {
    for (const std::int64_t pad : {pads[k], pads[rank + k]}) {
      constexpr std::int64_t limit = std::int64_t{1} << 40;
      if (pad < -limit || pad > limit) d.refuse("bad-attribute", fmt::format("a padding of {}", pad));
      to[k] += pad;
    }
    if (to[k] < 0) d.refuse("shape-mismatch", fmt::format("padding leaves {} elements of {}", to[k], from[k]));
    if (mode != PadMode::constant && from[k] == 0 && to[k] > 0) {
      d.refuse("shape-mismatch", fmt::format("dimension {} of {} has nothing to pad with", k, to_text(from)));
    }
  }
  StageDraft stage(d, "pad");
  const auto at = stage.axes(to);
  std::vector<IndexExpr> source;
  bool outside = false;
  for (std::size_t k = 0; k < rank; ++k) {
    const std::int64_t begin = pads[k];
    const bool reaches_out = begin > 0 || pads[rank + k] > 0;
    if (mode == PadMode::constant || !reaches_out) {
      source.push_back(at[k] - IndexExpr(begin));
      outside = outside || reaches_out;
      continue;
    }
    if (to[k] > largest_table) d.refuse("tensor-too-large", fmt::format("padding to an extent of {}", to[k]));
    auto table = std::make_shared<IndexTable>();
    table->name = fmt::format("pad{}", k);
    for (std::int64_t i = 0; i < to[k]; ++i) table->values.push_back(pad_source(mode, i - begin, from[k]));
    source.push_back(lookup(std::move(table), at[k]));
  }
  const double value = float_attribute(d.attributes(), "value", 0);
  ScalarExpr element = stage.read(x, std::move(source), outside ? std::optional(value) : std::nullopt);
  if (outside && d.has(1)) {  // the value is known at run time only: select it outside of the operand
    const StageTensorId constant = d.operand(1);
    d.require_same_type({x, constant});
    if (element_count(d.shape(constant)) != 1) {
      d.refuse("shape-mismatch", fmt::format("constant_value has shape {}", to_text(d.shape(constant))));
    }
    const ScalarExpr filler = stage.read(constant, std::vector<IndexExpr>(d.shape(constant).size(), IndexExpr(0)));
    ScalarExpr inside;
    const auto require = [&](const ScalarExpr& condition) {
      inside = inside ? scalar_binary(BinaryOp::logical_and, inside, condition) : condition;
    };
    for (std::size_t k = 0; k < rank; ++k) {
      const ScalarExpr position = scalar_index(ElementType::i64, at[k] - IndexExpr(pads[k]));
      if (pads[k] > 0) require(less(scalar_integer(ElementType::i64, -1), position));
      if (pads[rank + k] > 0) require(less(position, scalar_integer(ElementType::i64, from[k])));
    }
    element = scalar_select(inside, element, filler);
  }
  stage.output(element);
  return d.done();
}

}  // namespace

std::vector<OperatorRow> selection_rows() {
  return {
      {"Gather",
       "elements (or slices) of `data` along an axis, by their indices",
       {"data", "indices"},
       2,
       {{"axis", "int", false, "axis of data that is indexed, default 0"}},
       guarded<gather>},
      {"Pad",
       "more (or, with negative numbers, fewer) elements around the operand",
       {"X", "constant_value"},
       1,
       {{"pads", "ints", true, "elements before every dimension, then behind every dimension"},
        {"mode", "string", false, "constant (default), reflect, edge or wrap"},
        {"value", "float", false, "of mode constant, where the operand constant_value is absent; default 0"}},
       guarded<pad>},
      resize_row(),
  };
}

}  // namespace stowage::operators
