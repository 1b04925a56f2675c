// SPDX-License-Identifier: Apache-2.0
#include "inspector/fusion/why_not_question.h"

#include <algorithm>

#include <fmt/format.h>

#include "fusion/why_not.h"

namespace stowage::inspector {

WhyNotQuestion::WhyNotQuestion(PlanPtr plan) : plan_(std::move(plan)), facts_(plan_->graph()) {
  Diagnostics diagnostics;
  auto templates = fusion_templates(plan_->compilation.templates, diagnostics);
  check(static_cast<bool>(templates), "a plan's templates were read when it was opened");
  templates_ = *std::move(templates);
}

std::string WhyNotQuestion::ask(const std::vector<std::string>& names) const {
  Diagnostics diagnostics;
  std::vector<OpId> operators;
  for (const std::string& name : names) {
    const auto op = find_named_operator(plan_->graph(), name, diagnostics);
    if (op && std::find(operators.begin(), operators.end(), *op) == operators.end()) operators.push_back(*op);
  }
  if (diagnostics.has_errors()) {
    std::string text;
    for (const Diagnostic& problem : diagnostics.entries()) {
      text += problem.message + (problem.remedy.empty() ? "" : "; " + problem.remedy) + '\n';
    }
    return text;
  }
  if (operators.size() < 2) return "name two different operators\n";
  return to_text(why_not(facts_, templates_, plan_->compilation.fusion, operators), plan_->graph(),
                 plan_->compilation.fusion);
}

}  // namespace stowage::inspector
