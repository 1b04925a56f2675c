// SPDX-License-Identifier: Apache-2.0
// Contradictions of a target: values that are each in range, but that no machine has together, or of which one leaves
// another without effect. A target with contradictions is planned for all the same, since the user may want to know
// what would be; `stowage targets FILE --check` tells of them.
#pragma once

#include <string>
#include <vector>

#include "core/target.h"

namespace stowage {

struct Contradiction {
  std::string key;      ///< "dma.issue_cycles"
  std::string message;  ///< with the numbers that contradict each other
  std::string remedy;
};

/// Of a machine of the family Athread, in the order of its keys; none of another.
std::vector<Contradiction> contradictions(const Target& target);

}  // namespace stowage
