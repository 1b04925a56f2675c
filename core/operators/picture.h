// SPDX-License-Identifier: Apache-2.0
// The pictures that convolutions and pools read and write, [N, C, spatial…] or with channels in blocks
// (core/channel_blocks.h): their dimensions and where a pixel of a channel stands in them.
#pragma once

#include <string>
#include <vector>

#include "core/channel_blocks.h"
#include "core/operators/window.h"

namespace stowage::operators {

/// The attribute of an operator that can have blocks; refused where it is not two numbers that are not negative.
ChannelBlocks checked_channel_blocks(const Definer& d);
/// Shape of the first operand as ONNX has it, [N, C, spatial…] with one to three spatial dimensions; refused where the
/// operand has no such blocks.
Shape picture_shape(const Definer& d, const ChannelBlocks& blocks);
/// The attribute's row.
AttributeRow channel_blocks_row();

/// A channel by its number and, where an axis counts blocks of `block` channels, by its block and its place in that.
struct ChannelIndex {
  IndexExpr number;
  std::int64_t block = 0;
  IndexExpr of_block = {};
  IndexExpr in_block = {};
};

/// The indices of a pixel in a picture with `block` channels a block, or, where that is 0, none.
std::vector<IndexExpr> pixel(std::int64_t block, const IndexExpr& n, const ChannelIndex& channel,
                             const std::vector<IndexExpr>& spatial);

/// The axes of a stage that makes a picture.
struct PictureAxes {
  IndexExpr n;
  ChannelIndex channel;
  std::vector<IndexExpr> spatial;
};

/// Adds them: "n", `name`, the spatial ones of the windows; or, in blocks, "n", `name`_block, spatial ones,
/// `name`_lane. Refused where `channels` are no number of blocks.
PictureAxes picture_axes(const Definer& d, StageDraft& stage, std::int64_t batch, const std::string& name,
                         std::int64_t channels, std::int64_t block, const std::vector<Window>& windows);

}  // namespace stowage::operators
