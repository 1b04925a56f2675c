// SPDX-License-Identifier: Apache-2.0
// What the order of a nest's statements tells of every path through it, whatever the slots of buffers hold.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "lowering/ir/loop_nest.h"
#include "lowering/verify/ldm_state.h"

namespace stowage {

class Paths {
 public:
  /// Of a nest whose tables are looked up where they have an entry.
  explicit Paths(const LoopNest& nest);

  /// Whether a loop may have no trip at all: then it leaves everything as it was.
  [[nodiscard]] bool may_have_no_trip(const Stmt& loop) const { return skipped_.contains(loop.id); }
  /// The get, broadcast or computation in front of a statement that is the last in the text to write a buffer, if one
  /// does.
  [[nodiscard]] std::optional<StatementId> last_writer(BufferId buffer, const Stmt& before) const;

 private:
  std::set<StatementId> skipped_;
  IdVector<BufferId, std::vector<StatementId>> writers_;  ///< ids, ascending
};

/// Whether a part of a reduction may go on from what its buffer holds.
bool may_go_on(const Stage& stage, Compute::Part part, Holds holds);

/// What is sure of the LDM where one path ends with `state` and another one with `other`.
void join(State& state, const State& other);

}  // namespace stowage
