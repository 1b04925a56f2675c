// SPDX-License-Identifier: Apache-2.0
// The two halves of fuse_graph(): first the candidate groups (fusion/strategies/candidates.h), then the choice among
// them. Between the two, those that a time limit kept from being looked at can be left out.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string_view>
#include <vector>

#include "fusion/strategies/candidates.h"
#include "fusion/strategies/strategy.h"

namespace stowage {

Fusion fuse_candidates(const CandidateSet& set, const Strategy& strategy, TraceSink trace,
                       const std::stop_token& stop = {}, const std::vector<std::vector<OpId>>& fixed = {});

/// The rule that refuses groups for which a time limit left no time.
inline constexpr std::string_view out_of_time = "out-of-time";
/// Gives that rule to the candidates whose cost was not asked any more ("stopped"). How many candidates were not
/// planned to the end: these, and those of which the best plan that was found in time counts.
std::int64_t refuse_out_of_time(CandidateSet& set);
/// The same of what a fusion has recorded.
std::int64_t groups_out_of_time(const FusionRecord& record);

}  // namespace stowage
