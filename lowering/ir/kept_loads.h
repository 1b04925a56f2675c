// SPDX-License-Identifier: Apache-2.0
// What need not be loaded for a sliding window (sliding_windows.h): of an input that nothing but its sum reads, what is
// only asked for by elements of the box that are kept from the trip before.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "lowering/ir/sliding_windows.h"

namespace stowage {

/// A get that begins further on.
struct ShorterLoad {
  std::size_t dimension = 0;           ///< of its region
  IndexExpr start;                     ///< from where on it is needed, at least the region's; the end stays
  std::optional<StatementId> name_id;  ///< Stmt::id of a let that may name it in front of the get
};

/// By Stmt::id of the gets that load an input for a window, in the trip itself or ahead of it, and more than is needed;
/// where one of an input's is not known to be for a trip of its own, of none of them. `windows` are those of the nest,
/// which is sound or the ComputedBoxes of one that is. Left out are buffers that are filled or used otherwise, and
/// elements narrower than what their transfers move; and
/// inputs of which so few bytes are not needed that the calls for the others would cost more.
std::map<StatementId, ShorterLoad> shorter_loads(const LoopNest& nest, const std::vector<SlidingWindow>& windows);
/// Of all windows of the nest.
std::map<StatementId, ShorterLoad> shorter_loads(const LoopNest& nest);

}  // namespace stowage
