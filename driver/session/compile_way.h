// SPDX-License-Identifier: Apache-2.0
// The way that a network is compiled: what a request names, found.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/diagnostics.h"
#include "core/target.h"
#include "driver/backend/backend.h"
#include "driver/session/cost_model.h"
#include "driver/session/session.h"
#include "fusion/strategies/strategy.h"
#include "fusion/templates/template.h"
#include "lowering/evaluate/evaluator.h"

namespace stowage {

struct CompileWay {
  Target target;
  const Backend* backend = nullptr;
  const Strategy* strategy = nullptr;
  std::string planner;
  std::string layout;
  Evaluator evaluator;
  std::optional<CostModel> cost_model;
  std::optional<UserTemplates> user_templates;
  std::vector<FusionTemplate> templates;
};

/// What can be wrong before the model is opened is reported together.
Result<CompileWay> compile_way(const CompileRequest& request, Diagnostics& diagnostics);

/// The way that a compilation went, on a target; without templates.
Result<CompileWay> way_of(const Compilation& before, const Target& target, Diagnostics& diagnostics);

}  // namespace stowage
