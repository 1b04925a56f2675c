// SPDX-License-Identifier: Apache-2.0
// Pieces of the sentences about two plans.
#pragma once

#include <string>
#include <vector>

#include "driver/diff/plan_diff.h"

namespace stowage {

/// "a, b and c", at most three of them by name.
std::string shortly_listed(std::vector<std::string> names);
std::vector<std::string> names_of(const std::vector<GroupSide>& side);
/// Every group by its operators: "conv1 + relu1 and conv2".
std::string listed_by_operators(const std::vector<GroupSide>& side);

/// Several whole groups became one, or one became several.
bool is_joined(const GroupChange& change);
bool is_split(const GroupChange& change);

/// What a schedule does otherwise, what says most about why a group is faster or slower first.
std::string edits_text(const std::vector<ScheduleChange>& changes);

/// "12.0 %"; a difference that would be printed as none is said to be small.
std::string percent_text(double part);
/// "+12.0 %", "-0.02 %" (of what would be printed as none one digit), "new" behind nothing, "" where nothing changed.
std::string percent_change_text(double before, double after);
/// Of a change that is a share of what was before.
std::string percent_change_text(double share);

}  // namespace stowage
