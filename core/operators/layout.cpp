// SPDX-License-Identifier: Apache-2.0
// Operators that only move elements: views, Transpose, Expand, Concat, Slice. (Pad, Gather and Resize: selection.cpp.)
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/number_text.h"
#include "core/operators/define.h"

namespace stowage::operators {
namespace {

/// Extents without those of 1, with their dimensions.
std::vector<std::size_t> real_dimensions(const Shape& shape) {
  std::vector<std::size_t> dimensions;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] != 1) dimensions.push_back(k);
  }
  return dimensions;
}

/// Where the element at `at` of a tensor of shape `to` lies in a tensor of shape `from` with the same linear order.
/// Runs of dimensions with equal products are matched first, so that dimensions that stay are read by one variable.
std::vector<IndexExpr> reshaped_index(const Shape& from, const Shape& to, const std::vector<IndexExpr>& at) {
  std::vector<IndexExpr> index(from.size(), 0);
  const auto from_dimensions = real_dimensions(from);
  const auto to_dimensions = real_dimensions(to);
  std::size_t f = 0;
  std::size_t t = 0;
  while (f < from_dimensions.size() && t < to_dimensions.size()) {
    std::size_t f_end = f + 1;
    std::size_t t_end = t + 1;
    std::int64_t from_product = from[from_dimensions[f]];
    std::int64_t to_product = to[to_dimensions[t]];
    while (from_product != to_product) {
      if (from_product < to_product) {
        from_product *= from[from_dimensions[f_end++]];
      } else {
        to_product *= to[to_dimensions[t_end++]];
      }
    }
    IndexExpr linear = 0;
    for (std::size_t k = t; k < t_end; ++k) linear = linear * to[to_dimensions[k]] + at[to_dimensions[k]];
    std::int64_t stride = 1;
    for (std::size_t k = f_end; k-- > f;) {
      const std::int64_t extent = from[from_dimensions[k]];
      const IndexExpr quotient = floor_div(linear, stride);
      index[from_dimensions[k]] = k == f ? quotient : remainder(quotient, extent);
      stride *= extent;
    }
    f = f_end;
    t = t_end;
  }
  return index;
}

OperatorDefinition view(Definer& d, const Shape& to) {
  const StageTensorId x = d.operand(0);
  const Shape from = d.shape(x);
  const auto from_count = checked_element_count(from);
  const auto to_count = checked_element_count(to);
  if (!to_count || from_count != to_count) {
    d.refuse("shape-mismatch", fmt::format("shape {} cannot become {}", to_text(from), to_text(to)));
  }
  StageDraft stage(d, "copy");
  const auto at = stage.axes(to);
  stage.output(stage.read(x, *to_count == 0 ? std::vector<IndexExpr>(from.size(), 0) : reshaped_index(from, to, at)));
  return d.done_as_view();
}

OperatorDefinition identity(Definer& d) { return view(d, Shape(d.shape(d.operand(0)))); }

OperatorDefinition reshape(Definer& d) { return view(d, ints_attribute(d.attributes(), "shape", {})); }

OperatorDefinition flatten(Definer& d) {
  const Shape shape = d.shape(d.operand(0));
  const int rank = static_cast<int>(shape.size());
  std::int64_t axis = int_attribute(d.attributes(), "axis", 1);
  if (axis < -rank || axis > rank) {  // the rank itself is allowed here
    d.refuse("bad-attribute", fmt::format("axis {} of a tensor with {}", axis, counted(rank, "dimension")));
  }
  if (axis < 0) axis += rank;
  const std::span<const std::int64_t> all(shape);
  return view(d, {element_count(all.first(static_cast<std::size_t>(axis))),
                  element_count(all.subspan(static_cast<std::size_t>(axis)))});
}

OperatorDefinition squeeze(Definer& d) {
  const Shape shape = d.shape(d.operand(0));
  std::vector<std::size_t> ones;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == 1) ones.push_back(k);
  }
  const auto axes = d.axes("axes", shape.size(), ones);
  Shape to;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (!std::binary_search(axes.begin(), axes.end(), k)) {
      to.push_back(shape[k]);
    } else if (shape[k] != 1) {
      d.refuse("shape-mismatch", fmt::format("dimension {} of {} is not 1", k, to_text(shape)));
    }
  }
  return view(d, to);
}

OperatorDefinition unsqueeze(Definer& d) {
  const Shape shape = d.shape(d.operand(0));
  const auto count = shape.size() + ints_attribute(d.attributes(), "axes", {}).size();
  const auto axes = d.axes("axes", count, {});
  Shape to;
  std::size_t next = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const bool is_new = std::binary_search(axes.begin(), axes.end(), k);
    to.push_back(is_new ? 1 : shape[next++]);
  }
  return view(d, to);
}

OperatorDefinition transpose(Definer& d) {
  const StageTensorId x = d.operand(0);
  const Shape from = d.shape(x);
  std::vector<std::int64_t> reversed(from.size());
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const auto perm = ints_attribute(d.attributes(), "perm", reversed);
  auto sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  std::sort(reversed.begin(), reversed.end());
  if (sorted != reversed) {
    d.refuse("bad-attribute",
             fmt::format("attribute perm {} does not order {} dimensions", to_text(perm), from.size()));
  }
  Shape to;
  for (const std::int64_t p : perm) to.push_back(from[static_cast<std::size_t>(p)]);
  // Where only dimensions of extent 1 change place, no element does.
  auto moved = perm;
  std::erase_if(moved, [&](std::int64_t p) { return from[static_cast<std::size_t>(p)] == 1; });
  if (std::is_sorted(moved.begin(), moved.end())) return view(d, to);
  StageDraft stage(d, "copy");
  const auto at = stage.axes(to);
  std::vector<IndexExpr> source(from.size());
  for (std::size_t k = 0; k < perm.size(); ++k) source[static_cast<std::size_t>(perm[k])] = at[k];
  stage.output(stage.read(x, std::move(source)));
  return d.done();
}

OperatorDefinition expand(Definer& d) {
  const StageTensorId x = d.operand(0);
  const Shape wanted = ints_attribute(d.attributes(), "shape", {});
  if (!checked_element_count(wanted)) d.refuse("bad-attribute", fmt::format("attribute shape is {}", to_text(wanted)));
  StageDraft stage(d, "copy");
  stage.axes(broadcast_shape(d, d.shape(x), wanted));
  stage.output(stage.read_broadcast(x));
  return d.done();
}

OperatorDefinition concat(Definer& d) {
  const std::vector<StageTensorId> operands = d.operands();
  d.require_same_type(operands);
  const Shape first = d.shape(operands.front());
  d.require_rank(operands.front(), 1, 64);
  const std::size_t axis = d.axis(int_attribute(d.attributes(), "axis", 0), first.size());
  Shape to = first;
  to[axis] = 0;
  std::vector<std::int64_t> starts;
  for (const StageTensorId operand : operands) {
    Shape shape = d.shape(operand);
    const std::int64_t extent = shape.size() == first.size() ? shape[axis] : 0;
    if (shape.size() == first.size()) shape[axis] = first[axis];
    if (shape != first) {
      d.refuse("shape-mismatch", fmt::format("shapes {} and {} cannot be joined along axis {}", to_text(first),
                                             to_text(d.shape(operand)), axis));
    }
    starts.push_back(to[axis]);
    to[axis] += extent;
  }
  StageDraft stage(d, "copy");
  const auto at = stage.axes(to);
  // Every operand is read, outside of its part as padding; selects from the last part to the first pick one.
  ScalarExpr value;
  for (std::size_t i = operands.size(); i-- > 0;) {
    if (d.shape(operands[i])[axis] == 0 && (value || i > 0)) continue;
    std::vector<IndexExpr> source = at;
    source[axis] += IndexExpr(-starts[i]);
    const bool whole = d.shape(operands[i])[axis] == to[axis];
    const ScalarExpr element = stage.read(operands[i], source, whole ? std::nullopt : std::optional(0.0));
    if (!value) {
      value = element;
      continue;
    }
    const std::int64_t end = starts[i] + d.shape(operands[i])[axis];
    value = scalar_select(less(scalar_index(ElementType::i64, at[axis]), scalar_integer(ElementType::i64, end)),
                          element, value);
  }
  stage.output(value);
  return d.done();
}

OperatorDefinition slice(Definer& d) {
  const StageTensorId x = d.operand(0);
  const Shape from = d.shape(x);
  const auto starts = ints_attribute(d.attributes(), "starts", {});
  const auto ends = ints_attribute(d.attributes(), "ends", {});
  std::vector<std::int64_t> all(starts.size());
  std::iota(all.begin(), all.end(), 0);
  const auto axes = ints_attribute(d.attributes(), "axes", all);
  const auto steps = ints_attribute(d.attributes(), "steps", std::vector<std::int64_t>(starts.size(), 1));
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    d.refuse("bad-attribute", fmt::format("{} starts, {} ends, {} axes and {} steps", starts.size(), ends.size(),
                                          axes.size(), steps.size()));
  }
  Shape to = from;
  std::vector<std::int64_t> first(from.size(), 0);
  std::vector<std::int64_t> step(from.size(), 1);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t k = d.axis(axes[i], from.size());
    const std::int64_t extent = from[k];
    if (steps[i] == 0) d.refuse("bad-attribute", "a step of 0");
    // Positions count from the end when negative, and are clamped to what the direction can reach.
    const auto clamped = [&](std::int64_t position) {
      if (position < 0) position += extent;
      return steps[i] > 0 ? std::clamp<std::int64_t>(position, 0, extent)
                          : std::clamp<std::int64_t>(position, -1, extent - 1);
    };
    first[k] = clamped(starts[i]);
    const std::int64_t length = steps[i] > 0 ? clamped(ends[i]) - first[k] : first[k] - clamped(ends[i]);
    // A step beyond the extent takes one element; clamping it keeps the arithmetic small.
    const std::int64_t reach = std::max<std::int64_t>(1, extent);
    step[k] = std::clamp<std::int64_t>(steps[i], -reach, reach);
    to[k] = length <= 0 ? 0 : (length - 1) / std::abs(step[k]) + 1;
  }
  StageDraft stage(d, "copy");
  const auto at = stage.axes(to);
  std::vector<IndexExpr> source;
  for (std::size_t k = 0; k < from.size(); ++k) source.push_back(at[k] * step[k] + IndexExpr(first[k]));
  stage.output(stage.read(x, std::move(source)));
  return d.done();
}

}  // namespace

std::vector<OperatorRow> layout_rows() {
  return {
      {"Concat",
       "operands one behind the other along an axis",
       {"X", "…"},
       1,
       {{"axis", "int", true, "axis along which they are joined"}},
       guarded<concat>},
      {"Expand",
       "broadcasts to a shape",
       {"X"},
       1,
       {{"shape", "ints", true, "broadcast with the operand's shape, this is the result's"}},
       guarded<expand>},
      {"Flatten",
       "a matrix: dimensions before the axis as rows, the others as columns (a view)",
       {"X"},
       1,
       {{"axis", "int", false, "default 1"}},
       guarded<flatten>},
      {"Identity", "the operand itself (a view)", {"X"}, 1, {}, guarded<identity>},
      {"Reshape",
       "the same elements under another shape (a view)",
       {"X"},
       1,
       {{"shape", "ints", true, "all extents, without -1 and 0 placeholders"}},
       guarded<reshape>},
      {"Slice",
       "every step-th element from a start to an end, along axes",
       {"X"},
       1,
       {{"starts", "ints", true, "first positions; negative ones count from the end"},
        {"ends", "ints", true, "one past the last positions in the direction of the step"},
        {"axes", "ints", false, "axes that are cut, default 0, 1, …"},
        {"steps", "ints", false, "default 1; negative steps go backwards"}},
       guarded<slice>},
      {"Squeeze",
       "without dimensions of extent 1 (a view)",
       {"X"},
       1,
       {{"axes", "ints", false, "dimensions to drop; absent: all of extent 1"}},
       guarded<squeeze>},
      {"Transpose",
       "dimensions in another order (a view where only dimensions of extent 1 change place)",
       {"X"},
       1,
       {{"perm", "ints", false, "the operand's dimension for each of the result's, default reversed"}},
       guarded<transpose>},
      {"Unsqueeze",
       "with new dimensions of extent 1 (a view)",
       {"X"},
       1,
       {{"axes", "ints", true, "where they are in the result"}},
       guarded<unsqueeze>},
  };
}

}  // namespace stowage::operators
