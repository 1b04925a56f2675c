// SPDX-License-Identifier: Apache-2.0
// Elements of an intermediate that a tile has in common with the one before: the rows that a convolution's window
// reaches into. Without more each tile computes them again. Where the sum that makes the intermediate begins in
// registers (lowering/ir/register_chains.h), its fill may be marked by Fill::slides_along: in all trips of that loop
// but the first, what the trip before has computed of the box is moved to where it now belongs, and only the rest is
// computed. As the mark of a chain this changes nothing of what the nest means, which computes the whole box; it says
// what is emitted and what that takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lowering/ir/register_chains.h"

namespace stowage {

/// The one dimension of an index that moves forwards when a variable counts on, and by how many elements.
struct Motion {
  std::size_t dimension = 0;
  std::int64_t step = 0;
};
/// Nothing where none does, or several do, or not by the same number everywhere.
std::optional<Motion> motion_of(const std::vector<IndexExpr>& index, VarId variable);

struct SlidingWindow {
  RegisterChain chain;
  VarId along;                ///< variable of the loop
  std::size_t dimension = 0;  ///< of the buffer, and axis of the sum, that moves with it
  std::int64_t step = 0;      ///< elements that the box moves from one trip to the next
  std::int64_t kept = 0;      ///< elements of the dimension that two trips have in common
};

/// The windows that a nest may have. Of chains that stand in the body of a loop whose trips move the box along one
/// dimension by a constant number of elements, fewer than it has, whatever the data; with whose buffer's bytes nothing
/// else in the body does more than read them and fill what lies around the box; and where each trip finds what it does
/// not compute in what the trip before had.
std::vector<SlidingWindow> possible_sliding_windows(const LoopNest& nest);

/// Of these what is marked, in a nest that is sound or the ComputedBoxes of one: what trips find is not looked at
/// again.
std::vector<SlidingWindow> sliding_windows(const LoopNest& nest);

/// Whether what moves along a dimension of a buffer does so in vectors of so many lanes.
bool moves_in_vectors(const Buffer& buffer, std::size_t dimension, std::int64_t lanes);

/// A nest with the boxes that are computed, for who emits, counts and times: of the chains of sliding windows what the
/// trip before has not, and of the inputs of their sums what that takes (kept_loads.h). Their fills are around what of
/// the buffer is not moved, and have in front of them, under the same id, a name for where the box begins. It is not
/// sound by itself. Made of one, it comes to the same once more.
class ComputedBoxes {
 public:
  /// `nest` must outlive this: where it has no windows it is what is asked for.
  explicit ComputedBoxes(const LoopNest& nest);
  [[nodiscard]] const LoopNest& nest() const { return own_ ? *own_ : *given_; }

 private:
  const LoopNest* given_;
  std::optional<LoopNest> own_;
};

}  // namespace stowage
