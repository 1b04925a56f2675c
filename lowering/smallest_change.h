// SPDX-License-Identifier: Apache-2.0
// What would have to change on the machine for a group that lowering refuses. Nothing is estimated: every change is
// tried by planning the group again, so that one that is named really lifts the refusal.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/target.h"

namespace stowage {

/// One setting of a target, as `--set target.KEY=VALUE` names it.
struct TargetChange {
  std::string key;
  std::int64_t now = 0;
  std::int64_t wanted = 0;
};

/// `target` with the change.
Target changed(Target target, const TargetChange& change);

/// Single changes of `target` under each of which `allowed` holds, which it does not now: the least more of LDM (in
/// steps of its alignment, up to 1024 times of what there is; with one step less it is still refused), and the fewest
/// cores less (in steps of a 128th of them where there are that many). Empty if nothing of that helps.
std::vector<TargetChange> smallest_changes(const Target& target, const std::function<bool(const Target&)>& allowed);

/// "target.ldm_bytes = 147968 (82432 more), or target.cores = 24 (of 64)"; "" for none.
std::string to_text(const std::vector<TargetChange>& changes);

}  // namespace stowage
