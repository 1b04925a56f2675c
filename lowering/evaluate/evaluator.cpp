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

Evaluated simulated_cycles(const Plan& plan, const Target& target, const std::stop_token& stop) {
  Simulated simulated = simulate(plan.nest, target, {}, stop);
  if (auto* refused = std::get_if<Decision>(&simulated)) return std::move(*refused);
  return std::get<Simulation>(simulated).cycles;
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
    case EvaluatedBy::simulation: return simulated_cycles(plan, target, stop);
    case EvaluatedBy::learned:
      check(evaluator.predictor != nullptr, "a learned evaluator that has learned nothing");
      return predicted_cycles(*evaluator.predictor, features_of(plan, target));
  }
  fail_check("unknown evaluator");
}

}  // namespace stowage
