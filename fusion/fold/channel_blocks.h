// SPDX-License-Identifier: Apache-2.0
// Which pictures lie with their channels in blocks (core/channel_blocks.h), chosen for a network before it is fused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/graph.h"
#include "core/target.h"
#include "core/trace.h"

namespace stowage {

inline constexpr std::string_view given_layout = "given";      ///< pictures as ONNX has them
inline constexpr std::string_view blocked_layout = "blocked";  ///< as block_channels chooses
/// Both: what --layout takes.
std::vector<std::string> layout_names();

/// The graph after fold_intrinsics with the pictures that operators hand to each other in blocks, where all of these
/// can work on blocks: Conv with constant weights (of one group, or depthwise), pools, operators element by element,
/// and Concat along the channels. Convolutions of one group read or write blocks as they please; all others have the
/// same blocks on both sides. What the network reads and returns stays as it is, so does what another operator reads or
/// writes, unless its pictures have one pixel: these are the same in memory, and a Reshape, a view, is both.
///
/// A block has two vectors of the target, whose register blocks are those of lane blocks
/// (lowering/model/lane_blocks.h); or one where the channels make up no whole blocks of two. Float32 only; on a target
/// of one lane nothing changes.
///
/// Tensors keep their names. Records are of algorithm "layout".
Graph block_channels(const Graph& graph, const Target& target, TraceSink trace);

}  // namespace stowage
