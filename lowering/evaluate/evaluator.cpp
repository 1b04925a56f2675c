// SPDX-License-Identifier: Apache-2.0
#include "lowering/evaluate/evaluator.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/check.h"
#include "lowering/evaluate/cost_predictor.h"
#include "lowering/simulate/simulate.h"

namespace stowage {
namespace {

struct EvaluatorRow {
  EvaluatedBy by;
  std::string_view name;
  std::string_view text;
};

constexpr std::array evaluators = {EvaluatorRow{EvaluatedBy::closed_form, "closed", "the closed form"},
                                   EvaluatorRow{EvaluatedBy::simulation, "simulated", "simulation"},
                                   EvaluatorRow{EvaluatedBy::learned, "learned", "the learned evaluator"}};

const EvaluatorRow& row_of(EvaluatedBy by) {
  const auto* const found =
      std::find_if(evaluators.begin(), evaluators.end(), [&](const EvaluatorRow& row) { return row.by == by; });
  check(found != evaluators.end(), "an evaluator without a row");
  return *found;
}

Evaluated cycles_of_simulation(Simulated simulated) {
  if (auto* refused = std::get_if<Decision>(&simulated)) return std::move(*refused);
  return std::get<Simulation>(simulated).cycles;
}

Evaluated learned_cycles(const Plan& plan, const Target& target, const CostPredictor& predictor,
                         const std::stop_token& stop) {
  // Most of a simulation's time goes into these, and a prediction asks about them too.
  const ExecutionCosts costs(plan.nest, target);
  const RequestSequences requests = request_sequences(plan.nest, costs, Sharing::equal);
  const PlanFeatures features = features_of(plan, target, requests);
  if (!is_doubtful(predictor, features)) return predicted_cycles(predictor, features);
  return cycles_of_simulation(simulate(requests, costs.launch_cycles(), stop));
}

}  // namespace

std::string_view name_of(EvaluatedBy by) { return row_of(by).name; }

std::string_view text_of(EvaluatedBy by) { return row_of(by).text; }

std::optional<EvaluatedBy> find_evaluator(std::string_view name) {
  for (const EvaluatorRow& row : evaluators) {
    if (row.name == name) return row.by;
  }
  return std::nullopt;
}

std::vector<std::string> evaluator_names() {
  std::vector<std::string> names;
  for (const EvaluatorRow& row : evaluators) names.emplace_back(row.name);
  return names;
}

std::string identity_of(const Evaluator& evaluator) {
  std::string identity(name_of(evaluator.by));
  if (!evaluator.predictor_hash.empty()) identity += " " + evaluator.predictor_hash;
  return identity;
}

Evaluated evaluated_cycles(const Plan& plan, const Target& target, const Evaluator& evaluator,
                           const std::stop_token& stop) {
  switch (evaluator.by) {
    case EvaluatedBy::closed_form: return plan.time.cycles;
    case EvaluatedBy::simulation: return cycles_of_simulation(simulate(plan.nest, target, {}, stop));
    case EvaluatedBy::learned:
      check(evaluator.predictor != nullptr, "a learned evaluator that has learned nothing");
      return learned_cycles(plan, target, *evaluator.predictor, stop);
  }
  fail_check("unknown evaluator");
}

}  // namespace stowage
