// SPDX-License-Identifier: Apache-2.0
#include "driver/session/limited_search.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/number_text.h"
#include "fusion/strategies/fuse_candidates.h"

namespace stowage {

void tell_not_read(const std::string& model, Diagnostics& diagnostics) {
  SourceLocation location;
  location.file = model;
  diagnostics.error("out-of-time", std::move(location), "the time limit was over before the model was read",
                    "give it more time");
}

bool has_plan_in_time(const FusionRecord& record, Diagnostics& diagnostics) {
  const auto late = std::count_if(record.candidates.begin(), record.candidates.end(), [](const CandidateRecord& row) {
    return row.fate == CandidateFate::chosen && !row.refusals.empty() && row.refusals.front().rule == out_of_time;
  });
  if (late == 0) return true;
  diagnostics.error("out-of-time", {},
                    fmt::format("no plan was found within the time limit: {} {} not planned yet",
                                counted(late, "operator"), for_number(late, "was", "were")),
                    std::string(more_time));
  return false;
}

void note_limit(Compilation& compilation, const LimitedSearch& limited, Diagnostics& diagnostics) {
  compilation.command_line = limited.command_line;
  const auto not_to_the_end = [](std::int64_t number, const char* group) {
    return fmt::format("{} {} not looked at to the end", counted(number, group), for_number(number, "was", "were"));
  };
  const std::string what = limited.left_out > 0   ? not_to_the_end(limited.left_out, "group")
                           : limited.is_cut_short ? std::string("not all groups were looked for")
                                                  : not_to_the_end(limited.ended, "chosen group");
  diagnostics.warning("out-of-time", {},
                      fmt::format("the time limit was over before the search was: the plan is the best that was found "
                                  "till then, and {}",
                                  what),
                      "give it more time for a better one");
}

}  // namespace stowage
