// SPDX-License-Identifier: Apache-2.0
// Algorithm 5 for people: what growing an iterator's buffers would do, and why it is called so.
#pragma once

#include <string>

#include "core/trace.h"

namespace stowage::inspector {

struct ClassificationStep {
  std::string mark;  ///< of the algorithm's lines: the class
  std::string message;
  std::string why;
};
ClassificationStep classification_step(const IteratorClassified& classified, const GroupNames& names);

}  // namespace stowage::inspector
