// SPDX-License-Identifier: Apache-2.0
// What a limit of time (compile_within.h) leaves of a search.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "driver/session/session.h"

namespace stowage {

/// A limit of time for the search, and what it did.
struct LimitedSearch {
  std::stop_token over;       ///< also where everything is stopped
  std::string command_line;   ///< of a plan that the limit decided
  std::int64_t left_out = 0;  ///< groups that were not planned to the end
  bool is_cut_short = false;  ///< some were, or were not even looked for
  std::int64_t ended = 0;     ///< searches of chosen groups that the planner could have gone on with
  [[nodiscard]] bool has_decided() const { return is_cut_short || ended > 0; }
};

/// What helps where a time limit was too short.
inline constexpr std::string_view more_time =
    "give it more time; what was planned till then is in the cache of costs, if there is one";

/// Reported where the limit was over before the model was read.
void tell_not_read(const std::string& model, Diagnostics& diagnostics);

/// Whether every chosen group was planned in time; else there is no plan at all, which is reported.
bool has_plan_in_time(const FusionRecord& record, Diagnostics& diagnostics);

/// Of a plan that the limit decided: the compilation's command line and a warning say so.
void note_limit(Compilation& compilation, const LimitedSearch& limited, Diagnostics& diagnostics);

}  // namespace stowage
