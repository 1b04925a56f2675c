// SPDX-License-Identifier: Apache-2.0
// What a compilation knows of its learned evaluator: the file that `stowage train-cost` wrote, whole, so that a plan's
// folder needs no other file to be planned again.
#pragma once

#include <optional>
#include <string>

#include "core/diagnostics.h"
#include "core/target.h"
#include "driver/session/file_identity.h"
#include "lowering/evaluate/evaluator.h"

namespace stowage {

struct CostModel {
  FileIdentity file;
  std::string text;
};

/// Reads the file of cost "learned"; of any other cost there is none. Reported are a file that is missing or cannot be
/// read, and one that nothing asks for.
Result<std::optional<CostModel>> read_cost_model(const std::string& cost, const std::string& path,
                                                 Diagnostics& diagnostics);

/// Fails where what was learned is damaged, or holds for another target.
Result<Evaluator> evaluator_for(EvaluatedBy by, const std::optional<CostModel>& model, const Target& target,
                                Diagnostics& diagnostics);

}  // namespace stowage
