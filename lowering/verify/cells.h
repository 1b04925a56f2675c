// SPDX-License-Identifier: Apache-2.0
// The slots of all buffers of a nest as places in the LDM.
#pragma once

#include <string>
#include <vector>

#include "lowering/ir/loop_nest.h"
#include "lowering/verify/ldm_state.h"

namespace stowage {

class Cells {
 public:
  explicit Cells(const LoopNest& nest);

  /// More slots than can be looked at; then there is nothing to ask for.
  [[nodiscard]] bool too_many() const { return too_many_; }
  [[nodiscard]] std::size_t size() const { return cells_.size(); }
  [[nodiscard]] IdRange<SlotId> ids() const { return cells_.ids(); }
  [[nodiscard]] const Cell& operator[](SlotId cell) const { return cells_[cell]; }
  /// Of the first slot of a buffer; the others follow.
  [[nodiscard]] SlotId first_of(BufferId buffer) const { return first_[buffer]; }
  /// Whether two slots share bytes.
  [[nodiscard]] bool overlap(SlotId a, SlotId b) const { return overlap_[a][b]; }
  /// "buffer AA" or "slot 1 of buffer BB".
  [[nodiscard]] std::string name(SlotId id) const;

 private:
  const LoopNest& nest_;
  IdVector<SlotId, Cell> cells_;
  IdVector<BufferId, SlotId> first_;
  IdVector<SlotId, IdVector<SlotId, bool>> overlap_;
  bool too_many_ = false;
};

}  // namespace stowage
