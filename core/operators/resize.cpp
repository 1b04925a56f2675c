// SPDX-License-Identifier: Apache-2.0
// Resize by tables that are computed here: nearest looks one source element up per dimension, linear sums over the
// neighbours per resized dimension (two, or more where it shrinks with antialiasing) with constant weights.
#include "core/operators/resize.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace stowage::operators {
namespace {

/// One dimension.
struct Scaling {
  std::size_t dimension = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;
  double scale = 1;  ///< as given, or out / in
};

/// Position in the input (between elements) of element `x` of the output; the formulas of the ONNX documentation.
double source_position(const Definer& d, const std::string& mode, const Scaling& s, std::int64_t x) {
  const auto position = static_cast<double>(x);
  const auto in = static_cast<double>(s.in);
  const auto out = static_cast<double>(s.out);
  if (mode == "half_pixel") return (position + 0.5) / s.scale - 0.5;
  if (mode == "half_pixel_symmetric") {
    const double centre = in / 2;
    return centre * (1 - out / (in * s.scale)) + (position + 0.5) / s.scale - 0.5;
  }
  if (mode == "pytorch_half_pixel") return s.out > 1 ? (position + 0.5) / s.scale - 0.5 : 0;
  if (mode == "align_corners") return s.out > 1 ? position * (in - 1) / (out - 1) : 0;
  if (mode == "asymmetric") return position / s.scale;
  if (mode == "tf_half_pixel_for_nn") return (position + 0.5) / s.scale;
  d.refuse("bad-attribute", fmt::format("coordinate_transformation_mode '{}' of Resize", mode),
           "half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric or tf_half_pixel_for_nn");
}

std::int64_t nearest_element(const Definer& d, const std::string& mode, double position) {
  if (mode == "round_prefer_floor") return static_cast<std::int64_t>(std::ceil(position - 0.5));
  if (mode == "round_prefer_ceil") return static_cast<std::int64_t>(std::floor(position + 0.5));
  if (mode == "floor") return static_cast<std::int64_t>(std::floor(position));
  if (mode == "ceil") return static_cast<std::int64_t>(std::ceil(position));
  d.refuse("bad-attribute", fmt::format("nearest_mode '{}' of Resize", mode),
           "round_prefer_floor, round_prefer_ceil, floor or ceil");
}

/// Scales and output extents of all dimensions, from scales, sizes or both.
std::vector<Scaling> scalings(const Definer& d, const Shape& from) {
  const auto found = d.attributes().find("scales");
  const auto scales =
      found == d.attributes().end() ? std::vector<double>{} : std::get<std::vector<double>>(found->second);
  const auto sizes = ints_attribute(d.attributes(), "sizes", {});
  const bool has_scales = !scales.empty();
  const bool has_sizes = !sizes.empty();
  if (!has_scales && !has_sizes && !from.empty()) d.refuse("missing-attribute", "Resize needs scales or sizes");
  if ((has_scales && scales.size() != from.size()) || (has_sizes && sizes.size() != from.size())) {
    d.refuse("bad-attribute",
             fmt::format("{} scales and {} sizes for {} dimensions", scales.size(), sizes.size(), from.size()));
  }
  std::vector<Scaling> result;
  for (std::size_t k = 0; k < from.size(); ++k) {
    Scaling s{k, from[k], has_sizes ? sizes[k] : 0, 1};
    if (has_scales) {
      s.scale = scales[k];
    } else if (s.in > 0 && s.out > 0) {
      s.scale = static_cast<double>(s.out) / static_cast<double>(s.in);
    }
    if (!(s.scale >= 1e-9 && s.scale <= 1e9)) d.refuse("bad-attribute", fmt::format("a scale of {}", s.scale));
    // The product is rounded to float first: scales are float32, and 0.6f * 5 must not become 2.
    if (!has_sizes) {
      s.out = static_cast<std::int64_t>(std::floor(static_cast<float>(s.scale) * static_cast<float>(s.in)));
    }
    if (s.out < 0) d.refuse("bad-attribute", fmt::format("a size of {}", s.out));
    if (s.out > largest_table) d.refuse("tensor-too-large", fmt::format("Resize to an extent of {}", s.out));
    if (s.in == 0 && s.out > 0) d.refuse("shape-mismatch", "Resize of a dimension without elements");
    result.push_back(s);
  }
  return result;
}

/// The source element of every output element of one dimension.
std::shared_ptr<const IndexTable> nearest_table(const Definer& d, const std::string& coordinates, const Scaling& s) {
  const std::string mode = string_attribute(d.attributes(), "nearest_mode", "round_prefer_floor");
  auto table = std::make_shared<IndexTable>();
  table->name = fmt::format("nearest{}", s.dimension);
  for (std::int64_t i = 0; i < s.out; ++i) {
    const std::int64_t element = nearest_element(d, mode, source_position(d, coordinates, s, i));
    table->values.push_back(std::clamp<std::int64_t>(element, 0, s.in - 1));
  }
  return table;
}

/// The neighbours of every output element of one dimension and their weights; entry taps*i + r is neighbour r of output
/// element i.
struct Neighbours {
  std::int64_t taps = 0;
  std::shared_ptr<const IndexTable> table;
  std::vector<double> weights;
};

Neighbours neighbours_of(const Definer& d, const std::string& coordinates, const Scaling& s) {
  const bool exclude_outside = int_attribute(d.attributes(), "exclude_outside", 0) != 0;
  const bool antialias = int_attribute(d.attributes(), "antialias", 0) != 0;
  // The triangle that weighs neighbours by their distance is one input element wide on either side; antialiasing
  // widens it to one output element, so that every input element counts.
  const double slope = antialias ? std::min(1.0, s.scale) : 1.0;
  const double reach = std::ceil(1 / slope);
  if (reach * 2 * static_cast<double>(s.out) > static_cast<double>(largest_table)) {
    d.refuse("bad-attribute", fmt::format("a scale of {}", s.scale));
  }
  Neighbours result;
  result.taps = static_cast<std::int64_t>(reach) * 2;
  auto table = std::make_shared<IndexTable>();
  table->name = fmt::format("neighbour{}", s.dimension);
  for (std::int64_t i = 0; i < s.out; ++i) {
    const double position = source_position(d, coordinates, s, i);
    const std::int64_t first = static_cast<std::int64_t>(std::floor(position)) - result.taps / 2 + 1;
    const std::size_t start = result.weights.size();
    double sum = 0;
    for (std::int64_t neighbour = first; neighbour < first + result.taps; ++neighbour) {
      const bool outside = neighbour < 0 || neighbour >= s.in;
      const double distance = std::abs(static_cast<double>(neighbour) - position);
      const double weight = exclude_outside && outside ? 0 : std::max(0.0, 1 - distance * slope);
      table->values.push_back(std::clamp<std::int64_t>(neighbour, 0, s.in - 1));
      result.weights.push_back(weight);
      sum += weight;
    }
    for (std::size_t k = start; sum > 0 && k < result.weights.size(); ++k) result.weights[k] /= sum;
  }
  result.table = std::move(table);
  return result;
}

Tensor tensor_of(ElementType type, const std::vector<double>& values) {
  const auto width = static_cast<std::size_t>(byte_size(type));
  std::vector<std::byte> bytes(values.size() * width);
  for (std::size_t i = 0; i < values.size(); ++i) store_element(type, values[i], bytes.data() + i * width);
  return Tensor(type, {static_cast<std::int64_t>(values.size())}, std::move(bytes));
}

OperatorDefinition resize(Definer& d) {
  const StageTensorId x = d.operand(0);
  const std::string mode = string_attribute(d.attributes(), "mode", "nearest");
  const std::string coordinates = string_attribute(d.attributes(), "coordinate_transformation_mode", "half_pixel");
  if (mode != "nearest" && mode != "linear") {
    d.refuse("unsupported-attribute", fmt::format("Resize with mode {}", mode), "nearest or linear");
  }
  if (mode == "linear") d.require_floats({x});
  std::vector<Scaling> resized = scalings(d, d.shape(x));
  Shape to;
  for (const Scaling& s : resized) to.push_back(s.out);
  // A dimension that stays as it is, or is empty, needs neither table nor sum.
  std::erase_if(resized, [](const Scaling& s) { return s.out == 0 || (s.in == s.out && s.scale == 1); });

  StageDraft stage(d, "resize");
  std::vector<IndexExpr> source = stage.axes(to);
  std::vector<std::pair<StageTensorId, IndexExpr>> weights;  // tensor and entry, for each resized dimension
  for (const Scaling& s : resized) {
    IndexExpr& at = source[s.dimension];
    if (mode == "nearest") {
      at = lookup(nearest_table(d, coordinates, s), at);
      continue;
    }
    const Neighbours neighbours = neighbours_of(d, coordinates, s);
    const IndexExpr r = stage.reduction_axis(fmt::format("r{}", weights.size()), neighbours.taps);
    const IndexExpr entry = at * neighbours.taps + r;
    at = lookup(neighbours.table, entry);
    const StageTensorId tensor =
        d.add_constant(fmt::format("weights{}", s.dimension), tensor_of(d.type(x), neighbours.weights));
    weights.emplace_back(tensor, entry);
  }
  ScalarExpr value = stage.read(x, std::move(source));
  for (const auto& [tensor, entry] : weights) value = value * stage.read(tensor, {entry});
  if (weights.empty()) {
    stage.output(value);
  } else {
    stage.output(Reduction::sum, value);
  }
  return d.done();
}

}  // namespace

OperatorRow resize_row() {
  return {"Resize",
          "samples the operand on another grid, by the nearest element or linearly between neighbours",
          {"X"},
          1,
          {{"mode", "string", false, "nearest (default) or linear"},
           {"scales", "floats", false, "output extent / input extent of every dimension"},
           {"sizes", "ints", false, "output extents of all dimensions; with scales both are taken as given"},
           {"coordinate_transformation_mode", "string", false,
            "half_pixel (default), half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric, "
            "tf_half_pixel_for_nn"},
           {"nearest_mode", "string", false, "round_prefer_floor (default), round_prefer_ceil, floor, ceil"},
           {"antialias", "int", false, "1: where it shrinks, every input element counts (linear); default 0"},
           {"exclude_outside", "int", false, "1: neighbours outside have no weight (linear); default 0"}},
          guarded<resize>};
}

}  // namespace stowage::operators
