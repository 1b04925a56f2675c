// SPDX-License-Identifier: Apache-2.0
// What an edit comes to, as a picture: the verdict or the rule that refuses, numbers before and after, one core's LDM
// before and after, and what of the schedule is fixed.
#pragma once

#include "inspector/draw/drawing.h"
#include "inspector/look/look.h"
#include "inspector/whatif/evaluate.h"

namespace stowage::inspector {

struct ResultInput {
  const Plan* before = nullptr;  ///< of the plan that is edited
  const Target* target_before = nullptr;
  std::string name;                    ///< of the group
  const Evaluation* legal = nullptr;   ///< newest with a plan
  const Evaluation* latest = nullptr;  ///< may be refused; null before the first answer
  bool pending = false;
};

Drawing result_drawing(const ResultInput& input, const Look& look, QSizeF room);

/// A sentence in lines that are no wider than that.
QStringList wrapped(const QString& text, const QFont& font, double width);

}  // namespace stowage::inspector
