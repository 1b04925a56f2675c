// SPDX-License-Identifier: Apache-2.0
// Algorithm 5 iterator by iterator: the trace keeps its result, this says where it comes from.
#pragma once

#include <string>
#include <vector>

#include "lowering/model/group_model.h"

namespace stowage::inspector {

struct ClassificationStep {
  int iterator = 0;
  std::string type;  ///< "size", "num", "comp", "whole"
  std::string message;
  std::string why;
};

/// Of the iterators whose class is another than before ("" where there was none yet).
std::vector<ClassificationStep> classification_steps(const GroupModel& model, const std::vector<std::string>& before,
                                                     const std::vector<std::string>& after);

}  // namespace stowage::inspector
