// SPDX-License-Identifier: Apache-2.0
// Pools: windows of MaxPool and AveragePool, and the global ones whose window is the whole image.
#include <fmt/format.h>

#include "core/operators/picture.h"

namespace stowage::operators {
namespace {

/// What a pool reads and writes.
struct Pool {
  ChannelBlocks blocks;
  Shape in;  ///< of operand X, as ONNX has it
  std::vector<Window> windows;
};

struct PoolStage {
  StageDraft stage;
  PictureAxes axes;
  std::vector<IndexExpr> starts;  ///< of the pixel that is read, per spatial dimension
  std::vector<IndexExpr> source;  ///< all its indices
  bool clips = false;
};

PoolStage draft_pool(Definer& d, const std::string& name, const Pool& of) {
  PoolStage pool{StageDraft(d, name), {}, {}, {}, false};
  pool.axes = picture_axes(d, pool.stage, of.in[0], "c", of.in[1], of.blocks.result, of.windows);
  for (std::size_t k = 0; k < of.windows.size(); ++k) {
    const Window& window = of.windows[k];
    const IndexExpr r = pool.stage.reduction_axis(window_axis_name(k, of.windows.size()), window.kernel);
    pool.starts.push_back(window.start(pool.axes.spatial[k]) + r * window.dilation);
    pool.clips = pool.clips || window.clips();
  }
  pool.source = pixel(of.blocks.operand, pool.axes.n, pool.axes.channel, pool.starts);
  return pool;
}

Pool windowed_pool(const Definer& d) {
  const ChannelBlocks blocks = checked_channel_blocks(d);
  const Shape in = picture_shape(d, blocks);
  const Shape spatial(in.begin() + 2, in.end());
  return {blocks, in,
          forward_windows(d, spatial, ints_attribute(d.attributes(), "kernel_shape", {}),
                          int_attribute(d.attributes(), "ceil_mode", 0) != 0)};
}

Pool global_pool(const Definer& d) {
  const ChannelBlocks blocks = checked_channel_blocks(d);
  Pool pool{blocks, picture_shape(d, blocks), {}};
  for (std::size_t k = 2; k < pool.in.size(); ++k) {
    if (pool.in[k] == 0) d.refuse("shape-mismatch", fmt::format("a pool over nothing: shape {}", to_text(pool.in)));
    pool.windows.push_back({pool.in[k], pool.in[k], 1, 1, 0, 0, 1});
  }
  return pool;
}

/// Number of an element in memory: the image's dimensions row-major, or, where `column_major`, its spatial ones in
/// reverse.
IndexExpr element_number(const Shape& shape, const std::vector<IndexExpr>& at, bool column_major) {
  std::vector<std::size_t> order = {0, 1};
  for (std::size_t d = 2; d < shape.size(); ++d) order.push_back(column_major ? shape.size() + 1 - d : d);
  IndexExpr position = 0;
  for (const std::size_t d : order) position = position * shape[d] + at[d];
  return position;
}

/// The second output: where the largest element of each window lies, the first of equals. A NaN is the largest of its
/// window.
void add_indices(Definer& d, const Pool& of, StageTensorId largest) {
  const StageTensorId x = d.operand(0);
  if (of.blocks != ChannelBlocks{}) {
    d.refuse("bad-attribute", fmt::format("Indices with attribute {}", channel_blocks_attribute),
             "leave the attribute or the output out");
  }
  PoolStage pool = draft_pool(d, "indices", of);
  const double lowest = identity_of(Reduction::maximum, d.type(x));
  const ScalarExpr element = pool.stage.read(x, pool.source, pool.clips ? std::optional(lowest) : std::nullopt);
  constexpr auto type = ElementType::i64;
  const ScalarExpr none = scalar_integer(type, element_count(of.in));
  const bool column_major = int_attribute(d.attributes(), "storage_order", 0) != 0;
  const ScalarExpr here = scalar_index(type, element_number(of.in, pool.source, column_major));
  const std::vector<IndexExpr> own = pixel(0, pool.axes.n, pool.axes.channel, pool.axes.spatial);
  ScalarExpr found = scalar_select(equal(element, pool.stage.read(largest, own)), here,
                                   scalar_select(equal(element, element), none, here));
  // What lies outside is as small as the smallest element, and may be equal to it.
  for (std::size_t k = 0; k < of.windows.size(); ++k) {
    if (!of.windows[k].clips()) continue;
    const IndexExpr& at = pool.starts[k];
    const IndexExpr inside = minimum(maximum(at, 0), of.windows[k].in - 1);
    found = scalar_select(equal(scalar_index(type, at), scalar_index(type, inside)), found, none);
  }
  pool.stage.result(1, "Indices", Reduction::minimum, found);
}

OperatorDefinition max_pool(Definer& d, const Pool& of) {
  const StageTensorId x = d.operand(0);
  d.require_numbers({x});
  PoolStage pool = draft_pool(d, "max_pool", of);
  const double lowest = identity_of(Reduction::maximum, d.type(x));
  const ScalarExpr element = pool.stage.read(x, pool.source, pool.clips ? std::optional(lowest) : std::nullopt);
  const StageTensorId largest = pool.stage.output(Reduction::maximum, element);
  if (d.wants(1)) add_indices(d, of, largest);
  return d.done();
}

/// How many taps of the window at output coordinate `at` lie in [low, high).
IndexExpr taps_inside(const Window& w, const IndexExpr& at, std::int64_t low, std::int64_t high) {
  const IndexExpr start = w.start(at);
  const auto range = [&](VarId) { return Interval{0, w.out - 1}; };
  const auto taps_below = [&](std::int64_t limit) {
    return floor_div(start * -1 + (limit + w.dilation - 1), w.dilation);
  };
  const IndexExpr first = taps_below(low);  // smallest tap with start + tap*dilation >= low, if it is positive
  const IndexExpr end = taps_below(high);
  const bool clips_low = bounds(first, range).high > 0;
  const bool clips_high = bounds(end, range).low < w.kernel;
  const IndexExpr from = clips_low ? maximum(first, 0) : IndexExpr(0);
  const IndexExpr to = clips_high ? minimum(end, w.kernel) : IndexExpr(w.kernel);
  return to - from;
}

OperatorDefinition average_pool(Definer& d, const Pool& of, bool count_include_pad) {
  const StageTensorId x = d.operand(0);
  d.require_floats({x});
  const ElementType type = d.type(x);
  PoolStage pool = draft_pool(d, "average_pool", of);
  const ScalarExpr element = pool.stage.read(x, pool.source, pool.clips ? std::optional(0.0) : std::nullopt);

  // The divisor is a product of one count per dimension; counts that do not vary are multiplied here.
  std::int64_t constant_count = 1;
  ScalarExpr varying;
  for (std::size_t k = 0; k < of.windows.size(); ++k) {
    const Window& w = of.windows[k];
    const IndexExpr& at = pool.axes.spatial[k];
    const IndexExpr count =
        count_include_pad ? taps_inside(w, at, -w.pad_begin, w.in + w.pad_end) : taps_inside(w, at, 0, w.in);
    if (count.is_constant()) {
      constant_count *= count.constant();
    } else {
      const ScalarExpr factor = scalar_index(type, count);
      varying = varying ? varying * factor : factor;
    }
  }
  ScalarExpr divisor = scalar_constant(type, static_cast<double>(constant_count));
  if (varying) divisor = constant_count == 1 ? varying : varying * divisor;
  pool.stage.output(Reduction::sum, element, scalar_accumulator(type) / divisor);
  return d.done();
}

OperatorDefinition max_pool(Definer& d) { return max_pool(d, windowed_pool(d)); }

OperatorDefinition average_pool(Definer& d) {
  return average_pool(d, windowed_pool(d), int_attribute(d.attributes(), "count_include_pad", 0) != 0);
}

OperatorDefinition global_max_pool(Definer& d) { return max_pool(d, global_pool(d)); }

OperatorDefinition global_average_pool(Definer& d) { return average_pool(d, global_pool(d), false); }

}  // namespace

std::vector<OperatorRow> pooling_rows() {
  const AttributeRow ceil_mode = {"ceil_mode", "int", false, "1: round the output's extents up; default 0"};
  const AttributeRow blocks = channel_blocks_row();
  OperatorRow max{"MaxPool", "largest element of each window", {"X"},
                  1,         window_attribute_rows(true),      guarded<max_pool>};
  max.attributes.push_back(ceil_mode);
  max.attributes.push_back(
      {"storage_order", "int", false, "1: Indices count an image's elements column by column; default 0"});
  max.attributes.push_back(blocks);
  max.results = {"Y", "Indices"};
  OperatorRow average{"AveragePool",        "mean of each window", {"X"}, 1, window_attribute_rows(true),
                      guarded<average_pool>};
  average.attributes.push_back(ceil_mode);
  average.attributes.push_back({"count_include_pad", "int", false, "1: padding counts as zeros; default 0"});
  average.attributes.push_back(blocks);
  std::vector<OperatorRow> rows = {
      max,
      average,
      {"GlobalMaxPool", "largest element of each image", {"X"}, 1, {blocks}, guarded<global_max_pool>},
      {"GlobalAveragePool", "mean of each image", {"X"}, 1, {blocks}, guarded<global_average_pool>}};
  for (OperatorRow& row : rows) row.reduces_over = ReducesOver::window;
  return rows;
}

}  // namespace stowage::operators
