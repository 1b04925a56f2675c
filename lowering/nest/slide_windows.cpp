// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "lowering/ir/rewrite.h"
#include "lowering/ir/sliding_windows.h"
#include "lowering/nest/passes.h"

namespace stowage {

LoopNest slide_windows(LoopNest nest, const Target& /*target*/) {
  std::map<StatementId, VarId> loops;  // by the fills that the sums begin with
  for (const SlidingWindow& window : possible_sliding_windows(nest)) {
    if (is_marked_as_in_registers(*window.chain.start)) loops.emplace(window.chain.start->id, window.along);
  }
  if (loops.empty()) return nest;
  nest.body = edited<Fill>(nest.body, [&](const Stmt& statement, Fill& fill) {
    const auto found = loops.find(statement.id);
    if (found == loops.end()) return false;
    fill.slides_along = found->second;
    return true;
  });
  return nest;
}

}  // namespace stowage
