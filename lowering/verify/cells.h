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
  [[nodiscard]] const Cell& operator[](int index) const { return cells_[static_cast<std::size_t>(index)]; }
  /// Of the first slot of a buffer; the others follow.
  [[nodiscard]] int first_of(BufferId buffer) const { return first_[buffer]; }
  /// Whether two slots share bytes.
  [[nodiscard]] bool overlap(int a, int b) const {
    return overlap_[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
  }
  /// "buffer AA" or "slot 1 of buffer BB".
  [[nodiscard]] std::string name(int index) const;

 private:
  const LoopNest& nest_;
  std::vector<Cell> cells_;
  IdVector<BufferId, int> first_;
  std::vector<std::vector<bool>> overlap_;
  bool too_many_ = false;
};

}  // namespace stowage
