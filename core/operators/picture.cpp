// SPDX-License-Identifier: Apache-2.0
#include "core/operators/picture.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/block_names.h"
#include "core/number_text.h"

namespace stowage::operators {
namespace {

constexpr std::int64_t largest_block = std::int64_t{1} << 16;

}  // namespace

AttributeRow channel_blocks_row() {
  return {channel_blocks_attribute, "ints", false,
          "channels a block of operand X and of the result, 0 for [N,C,…]; set by --layout, in no ONNX file"};
}

ChannelBlocks checked_channel_blocks(const Definer& d) {
  if (!d.has_attribute(channel_blocks_attribute)) return {};
  const auto numbers = ints_attribute(d.attributes(), channel_blocks_attribute, {});
  if (numbers.size() != 2 || *std::min_element(numbers.begin(), numbers.end()) < 0 ||
      *std::max_element(numbers.begin(), numbers.end()) > largest_block) {
    d.refuse(
        "bad-attribute",
        fmt::format("attribute {} is {}", channel_blocks_attribute, to_text(Shape(numbers.begin(), numbers.end()))),
        fmt::format("give two numbers from 0 to {}: of the operand and of the result", largest_block));
  }
  return {numbers[0], numbers[1]};
}

Shape picture_shape(const Definer& d, const ChannelBlocks& blocks) {
  const StageTensorId x = d.operand(0);
  const int more = blocks.operand > 0 ? 1 : 0;
  d.require_rank(x, 3 + more, 5 + more);
  const Shape& shape = d.shape(x);
  if (blocks.operand == 0) return shape;
  if (shape.back() != blocks.operand) {
    d.refuse("shape-mismatch",
             fmt::format("operand X of shape {} for blocks of {}", to_text(shape), counted(blocks.operand, "channel")));
  }
  return unblocked_shape(shape, 1);
}

std::vector<IndexExpr> pixel(std::int64_t block, const IndexExpr& n, const ChannelIndex& channel,
                             const std::vector<IndexExpr>& spatial) {
  const bool has_own = block > 0 && channel.block == block;
  std::vector<IndexExpr> at = {n, channel.number};
  if (block > 0) at[1] = has_own ? channel.of_block : floor_div(channel.number, block);
  at.insert(at.end(), spatial.begin(), spatial.end());
  if (block > 0) at.push_back(has_own ? channel.in_block : remainder(channel.number, block));
  return at;
}

PictureAxes picture_axes(const Definer& d, StageDraft& stage, std::int64_t batch, const std::string& name,
                         std::int64_t channels, std::int64_t block, const std::vector<Window>& windows) {
  PictureAxes axes;
  axes.n = stage.axis("n", batch);
  if (block == 0) {
    axes.channel.number = stage.axis(name, channels);
    axes.spatial = spatial_axes(stage, windows);
    return axes;
  }
  if (channels % block != 0) {
    d.refuse("shape-mismatch", fmt::format("{} are no number of blocks of {}", counted(channels, "channel"), block));
  }
  axes.channel.block = block;
  axes.channel.of_block = stage.axis(block_iterator_name(name), channels / block);
  axes.spatial = spatial_axes(stage, windows);
  axes.channel.in_block = stage.axis(lane_iterator_name(name), block);
  axes.channel.number = axes.channel.of_block * block + axes.channel.in_block;
  return axes;
}

}  // namespace stowage::operators
