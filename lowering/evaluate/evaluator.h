// SPDX-License-Identifier: Apache-2.0
// What says how many cycles a plan takes where strategies compare groups: the closed form, by which planners search
// (lowering/time/time_model.h), the simulation of the plan that the planner has found (docs/simulation.md), or a
// prediction of what that would say.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/decision.h"
#include "core/target.h"
#include "lowering/nest/plan.h"

namespace stowage {

struct CostPredictor;  // lowering/evaluate/cost_predictor.h

enum class EvaluatedBy : std::uint8_t { closed_form, simulation, learned };

struct Evaluator {
  EvaluatedBy by = EvaluatedBy::closed_form;
  std::shared_ptr<const CostPredictor> predictor = nullptr;  ///< of learned, else null
  std::string predictor_hash = {};                           ///< of its file

  [[nodiscard]] bool is_closed_form() const { return by == EvaluatedBy::closed_form; }
};

/// "closed", "simulated", "learned".
std::string_view name_of(EvaluatedBy by);
/// For sentences: "the closed form", "simulation", "the learned evaluator".
std::string_view text_of(EvaluatedBy by);
std::optional<EvaluatedBy> find_evaluator(std::string_view name);
/// The first is that of a compilation that names none.
std::vector<std::string> evaluator_names();

/// Differs between evaluators that may say different cycles of one plan; one line.
std::string identity_of(const Evaluator& evaluator);

/// Cycles of a plan, its launch included, or why the evaluator cannot say them: "too-many-cycles", or "stopped".
using Evaluated = std::variant<std::int64_t, Decision>;
Evaluated evaluated_cycles(const Plan& plan, const Target& target, const Evaluator& evaluator,
                           const std::stop_token& stop = {});

}  // namespace stowage
