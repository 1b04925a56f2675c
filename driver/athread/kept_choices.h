// SPDX-License-Identifier: Apache-2.0
// What planners have chosen for groups, on disk beside the costs of groups (lowering/program/record_file.h): a network
// that was planned before is planned again without a search, with the same records of it in its trace.
#pragma once

#include <filesystem>
#include <string>

#include "core/target.h"
#include "lowering/model/planner.h"
#include "lowering/program/plan_choices.h"

namespace stowage {

/// One line of JSON, and back; reading throws what the JSON library does, or std::invalid_argument.
std::string text_of(const PlanChoice& choice);
PlanChoice choice_of(const std::string& text);

/// `choices` are those of this planner and target; from now on they know what `folder` (empty: none) has of them.
void recall_choices(const std::filesystem::path& folder, const Planner& planner, const Target& target,
                    PlanChoices& choices);

/// Puts on disk what a search has found to its end. What was chosen without one takes no time to be chosen again.
void keep_choices(const std::filesystem::path& folder, const Planner& planner, const Target& target,
                  const PlanChoices& choices);

}  // namespace stowage
