// SPDX-License-Identifier: Apache-2.0
// "Why are these operators not one group?", asked of a plan: the answer of fusion/explain/why_not.h in the words in
// which `stowage explain --why-not` gives it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fusion/facts/operator_facts.h"
#include "fusion/templates/template.h"
#include "inspector/state/loaded_plan.h"

namespace stowage::inspector {

/// What answers need to know of a plan, worked out once. Made and asked on a worker thread: large networks take a
/// while.
class WhyNotQuestion {
 public:
  explicit WhyNotQuestion(PlanPtr plan);
  /// Names of operators, or of ONNX nodes. What is wrong with them is the answer then, in a sentence.
  [[nodiscard]] std::string ask(const std::vector<std::string>& names) const;
  [[nodiscard]] const PlanPtr& plan() const { return plan_; }

 private:
  PlanPtr plan_;
  GraphFacts facts_;
  std::vector<FusionTemplate> templates_;
};
using WhyNotQuestionPtr = std::shared_ptr<const WhyNotQuestion>;

}  // namespace stowage::inspector
