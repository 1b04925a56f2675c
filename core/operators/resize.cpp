// SPDX-License-Identifier: Apache-2.0
// Resize by tables that are computed here: nearest looks one source element up per dimension, linear sums over the
// neighbours per resized dimension (two, or more where it shrinks with antialiasing) with constant weights.
#include "core/operators/resize.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace stowage::operators {
namespace {

/// One resized dimension.
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

/// Scales and output extents from scales or sizes, for the named axes.
std::vector<Scaling> scalings(const Definer& d, const Shape& from) {
  const auto rank = static_cast<int>(from.size());
  std::vector<std::int64_t> axes = ints_attribute(d.attributes(), "axes", {});
  if (!d.has_attribute("axes")) {
    for (int k = 0; k < rank; ++k) axes.push_back(k);
  }
  const auto found = d.attributes().find("scales");
  const auto scales =
      found == d.attributes().end() ? std::vector<double>{} : std::get<std::vector<double>>(found->second);
  auto sizes = ints_attribute(d.attributes(), "sizes", {});
  const bool has_scales = !scales.empty();
  const bool has_sizes = !sizes.empty();
  if (!has_scales && !has_sizes && !axes.empty()) d.refuse("missing-attribute", "Resize needs scales or sizes");
  if ((has_scales && scales.size() != axes.size()) || (has_sizes && sizes.size() != axes.size())) {
    d.refuse("bad-attribute",
             fmt::format("{} scales and {} sizes for {} axes", scales.size(), sizes.size(), axes.size()));
  }
  const std::string policy = string_attribute(d.attributes(), "keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller") {
    d.refuse("bad-attribute", fmt::format("keep_aspect_ratio_policy '{}' of Resize", policy),
             "stretch, not_larger or not_smaller");
  }
  std::vector<Scaling> result;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Scaling s;
    s.dimension = static_cast<std::size_t>(d.axis(axes[i], rank));
    s.in = from[s.dimension];
    if (has_scales) {
      s.scale = scales[i];
      if (!(s.scale > 0) || s.scale * static_cast<double>(s.in) > 1e12) {
        d.refuse("bad-attribute", fmt::format("a scale of {}", s.scale));
      }
    }
    if (has_sizes) {
      if (sizes[i] < 0) d.refuse("bad-attribute", fmt::format("a size of {}", sizes[i]));
      s.out = sizes[i];
      if (!has_scales) s.scale = s.in == 0 ? 1 : static_cast<double>(s.out) / static_cast<double>(s.in);
    } else {
      // The product is rounded to float first: scales are float32, and 0.6f * 5 must not become 2.
      s.out = static_cast<std::int64_t>(std::floor(static_cast<float>(s.scale) * static_cast<float>(s.in)));
    }
    result.push_back(s);
  }
  if (policy != "stretch" && !has_scales && !result.empty()) {
    const auto by_scale = [](const Scaling& a, const Scaling& b) { return a.scale < b.scale; };
    const double common = policy == "not_larger" ? std::min_element(result.begin(), result.end(), by_scale)->scale
                                                 : std::max_element(result.begin(), result.end(), by_scale)->scale;
    for (Scaling& s : result) {
      s.scale = common;
      s.out = static_cast<std::int64_t>(std::floor(common * static_cast<double>(s.in) + 0.5));
    }
  }
  for (const Scaling& s : result) {
    if (s.in == 0 && s.out > 0) d.refuse("shape-mismatch", "Resize of a dimension without elements");
    if (s.out > (std::int64_t{1} << 26)) d.refuse("tensor-too-large", fmt::format("Resize to an extent of {}", s.out));
  }
  return result;
}

OperatorDefinition resize(Definer& d) {
  const int x = d.operand(0);
  const Shape from = d.shape(x);
  const ElementType type = d.type(x);
  const std::string mode = string_attribute(d.attributes(), "mode", "nearest");
  const std::string coordinates = string_attribute(d.attributes(), "coordinate_transformation_mode", "half_pixel");
  const std::string nearest_mode = string_attribute(d.attributes(), "nearest_mode", "round_prefer_floor");
  if (mode != "nearest" && mode != "linear") {
    d.refuse("unsupported-attribute", fmt::format("Resize with mode {}", mode), "nearest or linear");
  }
  std::vector<Scaling> resized = scalings(d, from);
  Shape to = from;
  for (const Scaling& s : resized) to[s.dimension] = s.out;
  // A dimension that stays as it is needs neither table nor sum.
  std::erase_if(resized, [](const Scaling& s) { return s.in == s.out && s.scale == 1; });

  StageDraft stage(d, "resize");
  const auto at = stage.axes(to);
  std::vector<IndexExpr> source = at;
  if (mode == "nearest") {
    for (const Scaling& s : resized) {
      auto table = std::make_shared<IndexTable>();
      table->name = fmt::format("nearest{}", s.dimension);
      for (std::int64_t i = 0; i < s.out; ++i) {
        const double position = source_position(d, coordinates, s, i);
        const std::int64_t element = nearest_element(d, nearest_mode, position);
        table->values.push_back(std::clamp<std::int64_t>(element, 0, s.in - 1));
      }
      source[s.dimension] = s.out == 0 ? at[s.dimension] : lookup(std::move(table), at[s.dimension]);
    }
    stage.output(stage.read(x, std::move(source)));
    return d.done();
  }
  d.require_floats({x});
  std::vector<int> weights;
  std::vector<std::vector<IndexExpr>> weights_at;
  const bool exclude_outside = int_attribute(d.attributes(), "exclude_outside", 0) != 0;
  const bool antialias = int_attribute(d.attributes(), "antialias", 0) != 0;
  for (const Scaling& s : resized) {
    if (s.out == 0) continue;
    // The triangle that weighs neighbours by their distance is one input element wide on either side; antialiasing
    // widens it to one output element, so that every input element counts.
    const double slope = antialias ? std::min(1.0, s.scale) : 1.0;
    const double reach = std::ceil(1 / slope);
    if (reach * 2 * static_cast<double>(s.out) > 1 << 26)
      d.refuse("bad-attribute", fmt::format("a scale of {}", s.scale));
    const auto taps = static_cast<std::int64_t>(reach) * 2;
    // Table and weights are indexed by taps*i + r: neighbour r of output element i.
    auto table = std::make_shared<IndexTable>();
    table->name = fmt::format("neighbour{}", s.dimension);
    std::vector<double> factors;
    for (std::int64_t i = 0; i < s.out; ++i) {
      const double position = source_position(d, coordinates, s, i);
      const std::int64_t first = static_cast<std::int64_t>(std::floor(position)) - taps / 2 + 1;
      const std::size_t start = factors.size();
      double sum = 0;
      for (std::int64_t neighbour = first; neighbour < first + taps; ++neighbour) {
        const bool outside = neighbour < 0 || neighbour >= s.in;
        const double distance = std::abs(static_cast<double>(neighbour) - position);
        const double factor = exclude_outside && outside ? 0 : std::max(0.0, 1 - distance * slope);
        table->values.push_back(std::clamp<std::int64_t>(neighbour, 0, s.in - 1));
        factors.push_back(factor);
        sum += factor;
      }
      for (std::size_t k = start; sum > 0 && k < factors.size(); ++k) factors[k] /= sum;
    }
    const IndexExpr r = stage.reduction_axis(fmt::format("r{}", weights.size()), taps);
    const IndexExpr entry = at[s.dimension] * taps + r;
    source[s.dimension] = lookup(std::move(table), entry);
    std::vector<std::byte> bytes(factors.size() * static_cast<std::size_t>(byte_size(type)));
    for (std::size_t i = 0; i < factors.size(); ++i) {
      store_element(type, factors[i], bytes.data() + i * static_cast<std::size_t>(byte_size(type)));
    }
    weights.push_back(
        d.add_constant(fmt::format("weights{}", s.dimension), Tensor(type, {taps * s.out}, std::move(bytes))));
    weights_at.push_back({entry});
  }
  ScalarExpr value = stage.read(x, std::move(source));
  for (std::size_t i = 0; i < weights.size(); ++i) value = value * stage.read(weights[i], weights_at[i]);
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
           {"scales", "floats", false, "output extent / input extent per axis"},
           {"sizes", "ints", false, "output extents per axis; with scales both are taken as given"},
           {"axes", "ints", false, "axes that scales and sizes belong to, default all"},
           {"coordinate_transformation_mode", "string", false,
            "half_pixel (default), half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric, "
            "tf_half_pixel_for_nn"},
           {"nearest_mode", "string", false, "round_prefer_floor (default), round_prefer_ceil, floor, ceil"},
           {"antialias", "int", false, "1: where it shrinks, every input element counts (linear); default 0"},
           {"exclude_outside", "int", false, "1: neighbours outside have no weight (linear); default 0"},
           {"keep_aspect_ratio_policy", "string", false, "of sizes: stretch (default), not_larger, not_smaller"}},
          guarded<resize>};
}

}  // namespace stowage::operators
