// SPDX-License-Identifier: Apache-2.0
// Conv, ConvTranspose and the phases of a ConvTranspose, of one to three spatial dimensions.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/block_names.h"
#include "core/number_text.h"
#include "core/operators/picture.h"

namespace stowage::operators {
namespace {

Shape tail(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

/// Checks what all kinds share; returns the number of groups.
std::int64_t check_convolution(const Definer& d) {
  d.require_floats({d.operand(0)});
  d.require_same_type(d.operands());
  const std::int64_t groups = int_attribute(d.attributes(), "group", 1);
  if (groups < 1) d.refuse("bad-attribute", fmt::format("attribute group is {}", groups), "give a group of at least 1");
  return groups;
}

/// Of a convolution whose pictures are as ONNX has them. Weights have `more` dimensions than the input.
std::int64_t check_plain_convolution(const Definer& d, int more = 0) {
  const std::int64_t groups = check_convolution(d);
  const StageTensorId x = d.operand(0);
  d.require_rank(x, 3, 5);
  d.require_rank(d.operand(1), d.rank(x) + more, d.rank(x) + more);
  return groups;
}

/// The bias as an epilogue of the sum; nothing where there is none.
ScalarExpr with_bias(const Definer& d, StageDraft& stage, const IndexExpr& ff, std::int64_t features) {
  if (!d.has(2)) return {};
  const StageTensorId b = d.operand(2);
  if (d.shape(b) != Shape{features}) {
    d.refuse("shape-mismatch",
             fmt::format("bias of shape {} for {}", to_text(d.shape(b)), counted(features, "feature")));
  }
  const ElementType type = d.type(d.operand(0));
  return scalar_accumulator(type) + stage.read(b, {ff});
}

/// The channels that a convolution sums over, by their number among those of one group and among all.
struct SummedChannels {
  IndexExpr in_group;
  ChannelIndex all;
};

SummedChannels summed_channels(StageDraft& stage, const ChannelIndex& feature, std::int64_t features,
                               std::int64_t groups, std::int64_t channels, std::int64_t block) {
  if (groups == 1 && block > 0) {
    ChannelIndex all{{},
                     block,
                     stage.reduction_axis(block_iterator_name("rc"), channels / block),
                     stage.reduction_axis(lane_iterator_name("rc"), block)};
    all.number = all.of_block * block + all.in_block;
    return {all.number, all};
  }
  const IndexExpr rc = stage.reduction_axis("rc", channels);
  if (groups == 1) return {rc, {rc}};
  // With one channel a group rc is always 0: depthwise convolutions read channel ff / multiplier, and no sum.
  if (channels == 1 && features == groups) return {rc, feature};
  const IndexExpr group = floor_div(feature.number, std::max<std::int64_t>(1, features / groups));
  return {rc, {channels == 1 ? group : group * channels + rc}};
}

OperatorDefinition conv(Definer& d) {
  const std::int64_t groups = check_convolution(d);
  const ChannelBlocks blocks = checked_channel_blocks(d);
  const StageTensorId x = d.operand(0);
  const StageTensorId w = d.operand(1);
  const Shape in = picture_shape(d, blocks);
  const int weights_rank = static_cast<int>(in.size()) + (blocks.result > 0 ? 1 : 0);
  d.require_rank(w, weights_rank, weights_rank);
  const Shape weights = blocks.result > 0 ? unblocked_shape(d.shape(w), 0) : d.shape(w);
  const std::int64_t features = weights[0];
  const std::int64_t channels = weights[1];  // of one group
  if (in[1] % groups != 0 || in[1] / groups != channels || features % groups != 0 ||
      (blocks.result > 0 && d.shape(w).back() != blocks.result)) {
    d.refuse("shape-mismatch", fmt::format("input {} and weights {} do not fit {}", to_text(d.shape(x)),
                                           to_text(d.shape(w)), counted(groups, "group")));
  }
  const auto windows = forward_windows(d, tail(in), tail(weights), false);

  StageDraft stage(d, "conv");
  const PictureAxes out = picture_axes(d, stage, in[0], "ff", features, blocks.result, windows);
  const SummedChannels summed = summed_channels(stage, out.channel, features, groups, channels, blocks.operand);
  std::vector<IndexExpr> starts;
  std::vector<IndexExpr> w_at = {out.channel.block > 0 ? out.channel.of_block : out.channel.number, summed.in_group};
  bool clips = false;
  for (std::size_t k = 0; k < windows.size(); ++k) {
    const IndexExpr r = stage.reduction_axis(window_axis_name(k, windows.size()), windows[k].kernel);
    starts.push_back(windows[k].start(out.spatial[k]) + r * windows[k].dilation);
    w_at.push_back(r);
    clips = clips || windows[k].clips();
  }
  if (out.channel.block > 0) w_at.push_back(out.channel.in_block);
  const ScalarExpr input =
      stage.read(x, pixel(blocks.operand, out.n, summed.all, starts), clips ? std::optional(0.0) : std::nullopt);
  const ScalarExpr weight = stage.read(w, std::move(w_at));
  stage.output(Reduction::sum, input * weight, with_bias(d, stage, out.channel.number, features));
  return d.done();
}

/// Windows of a ConvTranspose: `in` is the operator's input, `out` its output, and pads cut the output.
std::vector<Window> transposed_windows(const Definer& d, const Shape& in, const Shape& kernel) {
  auto windows = window_attributes(d, in, kernel);
  const std::size_t dimensions = windows.size();
  const auto output_padding =
      ints_attribute(d.attributes(), "output_padding", std::vector<std::int64_t>(dimensions, 0));
  auto output_shape = ints_attribute(d.attributes(), "output_shape", {});
  const std::string auto_pad = string_attribute(d.attributes(), "auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (!same && auto_pad != "NOTSET" && auto_pad != "VALID") {
    d.refuse("bad-attribute", fmt::format("attribute auto_pad is {}", auto_pad),
             "NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  }
  if (output_shape.size() > dimensions) {  // some exporters give batch and features too
    output_shape.erase(output_shape.begin(), output_shape.end() - static_cast<std::ptrdiff_t>(dimensions));
  }
  if (output_padding.size() != dimensions || (!output_shape.empty() && output_shape.size() != dimensions)) {
    d.refuse("bad-attribute", fmt::format("output_padding or output_shape does not have {} numbers", dimensions));
  }
  for (std::size_t k = 0; k < dimensions; ++k) {
    Window& w = windows[k];
    if (output_padding[k] < 0 || output_padding[k] >= std::max(w.stride, w.dilation)) {
      d.refuse("bad-attribute", fmt::format("output_padding {} with stride {}", output_padding[k], w.stride));
    }
    const std::int64_t full = w.stride * (w.in - 1) + output_padding[k] + w.reach();
    if (same || !output_shape.empty()) {
      w.out = output_shape.empty() ? w.in * w.stride : output_shape[k];
      if (w.out < 1) d.refuse("bad-attribute", fmt::format("output_shape has a {}", w.out));
      const std::int64_t total = std::max<std::int64_t>(0, full - w.out);
      w.pad_begin = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.pad_end = total - w.pad_begin;
      continue;
    }
    if (auto_pad == "VALID") w.pad_begin = w.pad_end = 0;
    w.out = full - w.pad_begin - w.pad_end;
    if (w.out < 1) {
      d.refuse("shape-mismatch",
               fmt::format("padding {} and {} leaves nothing of {}", w.pad_begin, w.pad_end, counted(full, "element")));
    }
  }
  return windows;
}

/// The pairs of input element i and tap r that output element o is the sum of: those with
/// o + pad_begin = i*stride + r*dilation.
struct TransposedTaps {
  std::vector<IndexExpr> x_at;
  std::vector<IndexExpr> w_at;
  std::optional<IndexExpr> past_kernel;  ///< not negative where a w_at lies behind the kernel; absent if none does
  ScalarExpr hits;                       ///< null, or whether this point is such a pair: i meets r

  /// Adds one dimension; `place` is o + pad_begin.
  void add(StageDraft& stage, const Window& window, const IndexExpr& place, const std::string& axis) {
    const std::int64_t stride = window.stride;
    if (window.dilation == 1) {
      // Only every stride-th tap meets an element, starting from place mod stride: those are counted by the axis.
      const std::int64_t count = ceil_div(window.kernel, stride);
      const IndexExpr t = stage.reduction_axis(axis, count);
      x_at.push_back(floor_div(place, stride) - t);
      w_at.push_back(remainder(place, stride) + t * stride);
      if (count * stride == window.kernel) return;
      // One test for all dimensions: it is made at every point, and an index costs less than a comparison.
      const IndexExpr past = w_at.back() - window.kernel;
      past_kernel = past_kernel ? maximum(*past_kernel, past) : past;
      return;
    }
    const IndexExpr r = stage.reduction_axis(axis, window.kernel);
    const IndexExpr scaled = place - r * window.dilation;
    x_at.push_back(floor_div(scaled, stride));
    w_at.push_back(r);
    if (stride == 1) return;
    require(equal(scalar_index(ElementType::i64, remainder(scaled, stride)), scalar_integer(ElementType::i64, 0)));
  }

  void require(const ScalarExpr& hit) { hits = hits ? scalar_binary(BinaryOp::logical_and, hits, hit) : hit; }
};

OperatorDefinition conv_transpose(Definer& d) {
  const std::int64_t groups = check_plain_convolution(d);
  const StageTensorId x = d.operand(0);
  const StageTensorId w = d.operand(1);
  const Shape in = d.shape(x);
  const Shape weights = d.shape(w);
  if (in[1] % groups != 0 || weights[0] != in[1]) {
    d.refuse("shape-mismatch", fmt::format("input {} and weights {} do not fit {}", to_text(in), to_text(weights),
                                           counted(groups, "group")));
  }
  const std::int64_t channels = in[1] / groups;  // of one group
  const std::int64_t group_features = weights[1];
  const std::int64_t features = group_features * groups;
  const auto windows = transposed_windows(d, tail(in), tail(weights));

  StageDraft stage(d, "conv_transpose");
  const IndexExpr n = stage.axis("n", in[0]);
  const IndexExpr ff = stage.axis("ff", features);
  const std::vector<IndexExpr> out = spatial_axes(stage, windows);
  const IndexExpr rc = stage.reduction_axis("rc", channels);
  const bool grouped = groups > 1 && group_features > 0;
  const IndexExpr channel = grouped ? floor_div(ff, group_features) * channels + rc : rc;
  std::vector<IndexExpr> x_at = {n, channel};
  std::vector<IndexExpr> w_at = {channel, grouped ? remainder(ff, group_features) : ff};
  TransposedTaps taps;
  for (std::size_t k = 0; k < windows.size(); ++k) {
    taps.add(stage, windows[k], out[k] + windows[k].pad_begin, window_axis_name(k, windows.size()));
  }
  x_at.insert(x_at.end(), taps.x_at.begin(), taps.x_at.end());
  w_at.insert(w_at.end(), taps.w_at.begin(), taps.w_at.end());
  if (taps.past_kernel) {
    taps.require(scalar_binary(BinaryOp::less, scalar_index(ElementType::i64, *taps.past_kernel),
                               scalar_integer(ElementType::i64, 0)));
  }
  const ScalarExpr input = stage.read(x, std::move(x_at), 0.0);
  const ScalarExpr weight = stage.read(w, std::move(w_at), taps.past_kernel ? std::optional(0.0) : std::nullopt);
  const ScalarExpr product = input * weight;
  stage.output(Reduction::sum,
               taps.hits ? scalar_select(taps.hits, product, scalar_constant(product->type, 0)) : product,
               with_bias(d, stage, ff, features));
  return d.done();
}

/// One spatial dimension of a transposed convolution by phases.
struct PhasedDimension {
  std::int64_t in = 0;
  std::int64_t phases = 1;  ///< the stride of the transposed convolution
  std::int64_t taps = 1;    ///< of each phase
  std::int64_t extent = 0;  ///< output elements of each phase
  std::int64_t offset = 0;  ///< what a ConvTranspose pads before the dimension

  /// The input element that the last tap of a phase meets at output element `at` of it.
  [[nodiscard]] IndexExpr last_met(const IndexExpr& at, const IndexExpr& phase) const {
    return at + offset / phases + (offset % phases == 0 ? IndexExpr(0) : floor_div(phase + offset % phases, phases));
  }
  [[nodiscard]] bool clips() const {
    return offset / phases < taps - 1 || extent - 1 + (offset + phases - 1) / phases >= in;
  }
};

std::vector<PhasedDimension> phased_dimensions(const Definer& d, const Shape& in, const Shape& weights) {
  const std::size_t count = in.size() - 2;
  const auto extents = ints_attribute(d.attributes(), "extents", {});
  const auto offsets = ints_attribute(d.attributes(), "offsets", std::vector<std::int64_t>(count, 0));
  if (extents.size() != count || offsets.size() != count) {
    d.refuse("bad-attribute", fmt::format("extents or offsets does not have {} numbers", count));
  }
  std::vector<PhasedDimension> dimensions;
  for (std::size_t k = 0; k < count; ++k) {
    const PhasedDimension dimension{in[2 + k], weights[1 + k], weights[2 + count + k], extents[k], offsets[k]};
    if (dimension.phases < 1 || dimension.taps < 1) {
      d.refuse("shape-mismatch", fmt::format("weights {} without phases or taps", to_text(weights)));
    }
    constexpr std::int64_t largest = std::int64_t{1} << 31;
    if (dimension.extent < 0 || dimension.offset < 0 || dimension.extent > largest || dimension.offset > largest) {
      d.refuse("bad-attribute", fmt::format("extents or offsets has a {}", std::min(extents[k], offsets[k])),
               fmt::format("give numbers from 0 to {}", largest));
    }
    dimensions.push_back(dimension);
  }
  return dimensions;
}

std::string phase_axis_name(std::size_t dimension, std::size_t dimensions) {
  static constexpr const char* names[] = {"pd", "py", "px"};
  return names[3 - dimensions + dimension];
}

/// Output element s*q + p of a ConvTranspose of stride s is element q of its phase p. All elements of a phase meet the
/// same taps, at consecutive elements of the input: a convolution of stride 1. The second stage puts the phases of each
/// dimension side by side, so that the output lies in memory as that of the ConvTranspose.
OperatorDefinition conv_transpose_phases(Definer& d) {
  const StageTensorId x = d.operand(0);
  const StageTensorId w = d.operand(1);
  const std::int64_t groups = check_plain_convolution(d, std::max(1, d.rank(x)) - 2);
  const Shape in = d.shape(x);
  const Shape weights = d.shape(w);
  const auto dimensions = phased_dimensions(d, in, weights);
  const std::size_t count = dimensions.size();
  const std::int64_t features = weights[0];
  const std::int64_t channels = weights[1 + count];  // of one group
  if (in[1] % groups != 0 || in[1] / groups != channels || features % groups != 0) {
    d.refuse("shape-mismatch", fmt::format("input {} and weights {} do not fit {}", to_text(in), to_text(weights),
                                           counted(groups, "group")));
  }

  StageDraft sums(d, "phases");
  const IndexExpr n = sums.axis("n", in[0]);
  const IndexExpr ff = sums.axis("ff", features);
  std::vector<IndexExpr> w_at = {ff};
  for (std::size_t k = 0; k < count; ++k) {
    w_at.push_back(sums.axis(phase_axis_name(k, count), dimensions[k].phases));
  }
  std::vector<IndexExpr> out;
  for (std::size_t k = 0; k < count; ++k) {
    out.push_back(sums.axis(spatial_axis_name(k, count), dimensions[k].extent));
  }
  const IndexExpr rc = sums.reduction_axis("rc", channels);
  const IndexExpr group = groups == 1 ? IndexExpr(0) : floor_div(ff, std::max<std::int64_t>(1, features / groups));
  std::vector<IndexExpr> x_at = {n, groups > 1 && channels == 1 ? group : group * channels + rc};
  w_at.push_back(rc);
  bool clips = false;
  for (std::size_t k = 0; k < count; ++k) {
    const IndexExpr r = sums.reduction_axis(window_axis_name(k, count), dimensions[k].taps);
    x_at.push_back(dimensions[k].last_met(out[k], w_at[1 + k]) + r - (dimensions[k].taps - 1));
    w_at.push_back(r);
    clips = clips || dimensions[k].clips();
  }
  const ScalarExpr input = sums.read(x, std::move(x_at), clips ? std::optional(0.0) : std::nullopt);
  const ScalarExpr weight = sums.read(w, std::move(w_at));
  const StageTensorId phases =
      sums.intermediate("phases", Reduction::sum, input * weight, with_bias(d, sums, ff, features));

  StageDraft stage(d, "side_by_side");
  std::vector<IndexExpr> at = {stage.axis("n", in[0]), stage.axis("ff", features)};
  std::vector<IndexExpr> at_in_phase;
  for (std::size_t k = 0; k < count; ++k) {
    at_in_phase.push_back(stage.axis(spatial_axis_name(k, count), dimensions[k].extent));
    at.push_back(stage.axis(phase_axis_name(k, count), dimensions[k].phases));
  }
  at.insert(at.end(), at_in_phase.begin(), at_in_phase.end());
  stage.output(stage.read(phases, std::move(at)));
  return d.done();
}

}  // namespace

std::vector<OperatorRow> convolution_rows() {
  const AttributeRow group = {"group", "int", false, "groups of channels that are convolved apart, default 1"};
  OperatorRow forward{"Conv",
                      "convolution of 1 to 3 spatial dimensions, with bias",
                      {"X", "W", "B"},
                      2,
                      window_attribute_rows(false),
                      guarded<conv>};
  forward.attributes.push_back(group);
  forward.attributes.push_back(channel_blocks_row());
  OperatorRow transposed{"ConvTranspose",
                         "transposed convolution of 1 to 3 spatial dimensions, with bias",
                         {"X", "W", "B"},
                         2,
                         window_attribute_rows(false),
                         guarded<conv_transpose>};
  transposed.attributes.push_back(group);
  transposed.attributes.push_back({"output_padding", "ints", false, "elements added behind the output, default 0"});
  transposed.attributes.push_back(
      {"output_shape", "ints", false, "spatial extents of the output; pads follow from it"});
  OperatorRow phases{
      "ConvTransposePhases",
      "ConvTranspose of a stride, whose weights are sorted by the phases that the stride makes of its outputs; batch, "
      "features, then elements and phases of each spatial dimension",
      {"X", "W", "B"},
      2,
      {{"extents", "ints", true, "output elements of each phase per spatial dimension"},
       {"offsets", "ints", false, "what the ConvTranspose pads before every spatial dimension, default 0"},
       group},
      guarded<conv_transpose_phases>};
  for (OperatorRow* row : {&forward, &transposed, &phases}) row->reduces_over = ReducesOver::convolution;
  return {forward, transposed, phases};
}

}  // namespace stowage::operators
