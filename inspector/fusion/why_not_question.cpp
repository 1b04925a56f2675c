// SPDX-License-Identifier: Apache-2.0
#include "inspector/fusion/why_not_question.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fusion/explain/why_not.h"
#include "inspector/state/background.h"
#include "inspector/state/told.h"

namespace stowage::inspector {

WhyNotQuestion::WhyNotQuestion(PlanPtr plan) : plan_(std::move(plan)), facts_(plan_->graph()) {
  off_window_thread("templates were matched");
  Diagnostics diagnostics;
  auto templates = fusion_templates(plan_->compilation.templates, diagnostics);
  check(static_cast<bool>(templates), "a plan's templates were read when it was opened");
  templates_ = *std::move(templates);
}

std::string WhyNotQuestion::ask(const std::vector<std::string>& names) const {
  off_window_thread("templates were matched");
  Diagnostics diagnostics;
  std::vector<OpId> operators;
  for (const std::string& name : names) {
    const auto op = find_named_operator(plan_->graph(), name, diagnostics);
    if (op && std::find(operators.begin(), operators.end(), *op) == operators.end()) operators.push_back(*op);
  }
  if (diagnostics.has_errors()) {
    std::string text;
    for (const Diagnostic& problem : diagnostics.entries()) {
      text += told(problem) + '\n';
    }
    return text;
  }
  if (operators.size() < 2) return "name two different operators\n";
  const Compilation& compilation = plan_->compilation;
  CostOptions options;
  options.evaluator = evaluator_of(*plan_);
  // None for a plan by a planner that this build lacks.
  const auto cost =
      backend_of(compilation).group_cost(compilation.program.planner, compilation.program.target, options);
  return to_text(why_not(facts_, templates_, compilation.fusion, operators, cost.get()), plan_->graph(),
                 compilation.fusion);
}

}  // namespace stowage::inspector
