// SPDX-License-Identifier: Apache-2.0
// What an edit comes to, as a picture: the verdict or the rule that refuses, numbers before and after, one core's LDM
// before and after, and what of the schedule is fixed.
#pragma once

#include "inspector/draw/drawing.h"
#include "inspector/look/look.h"
#include "inspector/whatif/evaluate.h"

namespace stowage::inspector {

struct ResultInput {
  const LoadedPlan* base = nullptr;    ///< the plan that is edited; null without one
  std::optional<StepId> step;          ///< of it; without it nothing is chosen
  const Evaluation* legal = nullptr;   ///< newest with a plan
  const Evaluation* latest = nullptr;  ///< may be refused; null before the first answer
  bool pending = false;
};

Drawing result_drawing(const ResultInput& input, const Look& look, QSizeF room);

}  // namespace stowage::inspector
