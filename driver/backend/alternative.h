// SPDX-License-Identifier: Apache-2.0
// Other ways to plan a network, for the summary of a compilation to compare with: what they are and how they read is
// known to the family of its target; that they are planned, and which of them is told, to driver/session/other_plans.h.
#pragma once

#include <string>
#include <string_view>

#include "core/target.h"
#include "lowering/evaluate/evaluator.h"

namespace stowage {

/// How a network is compiled. What it names must outlive it.
struct CompiledBy {
  const std::string& planner;
  const Target& target;
  std::string_view strategy;
  EvaluatedBy evaluated_by = EvaluatedBy::closed_form;
};

/// Plan files name one by its planner and its number of cores, in which a family's alternatives differ therefore.
struct Alternative {
  std::string planner;
  Target target;
  std::string title;    ///< of its row in a summary
  std::string meaning;  ///< the sentence that says how the row is to be read
  /// Told only where it takes less than what is compiled, and of several such ones the fastest.
  bool if_faster = false;
};

}  // namespace stowage
