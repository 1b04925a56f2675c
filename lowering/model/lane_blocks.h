// SPDX-License-Identifier: Apache-2.0
// Lanes along the output channels of a convolution, or the columns of a matrix product: the axis is cut into blocks of
// a few vectors, which lie innermost in what is summed and in the weights. So every vector of weights is aligned and
// contiguous whatever the window, the stride or the length of a row, one element of the other operand serves a whole
// block, and the weights are moved in long pieces. It is the blocked layout of oneDNN and TVM (OIHW16o) for parameters
// and accumulators; activations stay as they are in main memory.
//
// Weights are packed when the network is compiled. What is computed stays the same, element by element and in the same
// order.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <variant>

#include "core/decision.h"
#include "core/stage.h"
#include "core/target.h"
#include "lowering/model/schedule.h"

namespace stowage {

/// The iterator, by the name that schedules give it, that may be blocked, with the best block that its extent is a
/// multiple of: of two vectors, of three or of one. None of `apart`. Empty on a target of one lane.
LaneBlocks possible_lane_blocks(const StageList& stages, const std::set<std::string>& apart, const Target& target);

/// The same iterator in blocks of one vector, where there are fewer of the wider ones than cores and fewer other points
/// of the result than cores: whole pictures of 7 x 7 are summed in blocks of 16 pixels by one vector nearly as fast,
/// and more cores have one. Elsewhere empty: cores get pixels of their own, and a form more to search takes its time.
LaneBlocks narrow_lane_blocks(const StageList& stages, const LaneBlocks& wide, const Target& target);

/// Which stages behind the first sum have their lanes innermost too: depthwise convolutions, or these and poolings.
/// (Plans of earlier versions have the first.)
enum class LaneFollowers : std::uint8_t { products, all };

/// The stages with iterator "ff" as "ff_block" and "ff_lane". In the stage that sums products the lanes are the last
/// spatial axis, in its weights the last dimension, and the blocks the first one; so it is in a depthwise convolution
/// or a pooling that follows and in what stands between the two, so that vectors of these are contiguous. In all others
/// the lanes stand behind the blocks, as in main memory. A sum that nothing follows is stored by a stage of its own
/// ("…_store"). A block that is there already is done. Refuses (rule "schedule") what is no such axis, and blocks that
/// do not divide it.
std::variant<StageList, Decision> block_lanes(StageList stages, const LaneBlocks& blocks,
                                              LaneFollowers followers = LaneFollowers::all);

}  // namespace stowage
