// SPDX-License-Identifier: Apache-2.0
#include "driver/session/learned_elsewhere.h"

#include <fmt/format.h>

namespace stowage {

bool is_learned_elsewhere(const Compilation& plan, const Target& target, Diagnostics& diagnostics) {
  if (!plan.cost_model || hash_of_target(target) == hash_of_target(plan.program.target)) return false;
  SourceLocation location;
  location.file = plan.cost_model->file.path;
  diagnostics.error("other-target", location,
                    fmt::format("the plan was compiled with --cost learned, and what {} has learned holds for the "
                                "plan's own target only",
                                location.file),
                    "compile the network with --cost closed or --cost simulated and ask that plan; or train an "
                    "evaluator for the other target (stowage train-cost) and compile for it there");
  return true;
}

Result<Evaluator> evaluator_again(const Compilation& plan, const Target& target, Diagnostics& diagnostics) {
  if (is_learned_elsewhere(plan, target, diagnostics)) return Failed{};
  return evaluator_for(plan.program.evaluated_by, plan.cost_model, target, diagnostics);
}

}  // namespace stowage
