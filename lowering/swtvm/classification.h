// SPDX-License-Identifier: Apache-2.0
// swTVM algorithm 5: which iterators determine buffer sizes, which the number of transfers.
#pragma once

#include <set>
#include <vector>

#include "core/trace/planning.h"
#include "lowering/model/group_model.h"

namespace stowage {

/// The state that UPDATE maintains: iterators not yet buffered whole, and every tensor's current buffered dimension.
class Classification {
 public:
  explicit Classification(const GroupModel& model);

  /// VARTYPE, lines 2-20.
  [[nodiscard]] IteratorClass class_of(IteratorId iterator) const;
  /// Iterators not buffered whole, in list order (the varSet that CLASSIFY runs over).
  [[nodiscard]] const std::set<IteratorId>& open() const { return open_; }
  /// Buffers along whose blocks the iterator runs, and those from block to block of which.
  [[nodiscard]] std::vector<BufferId> along(IteratorId iterator) const;
  [[nodiscard]] std::vector<BufferId> across(IteratorId iterator) const;
  /// Tensors in one of whose dimensions from the current one upwards the iterator occurs.
  [[nodiscard]] int affected_tensors(IteratorId iterator) const;

  void mark_whole(IteratorId iterator);    ///< UPDATE(…, UP)
  void unmark_whole(IteratorId iterator);  ///< UPDATE(…, DOWN)

 private:
  /// Dimension 0 is the lowest (contiguous) one; stops at the last dimension.
  void raise(BufferId buffer);
  [[nodiscard]] const std::set<IteratorId>& dimension(BufferId buffer, std::size_t from_lowest) const;

  const GroupModel* model_;
  std::set<IteratorId> open_;
  IdVector<BufferId, std::size_t> current_;  ///< current buffered dimension, counted from the lowest
};

}  // namespace stowage
