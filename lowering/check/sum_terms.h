// SPDX-License-Identifier: Apache-2.0
// Which terms of its sum (or maximum, or other reduction) an element has been made of so far. A sum is whole when every
// term was taken once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lowering/check/boxes.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

struct SumTerms {
  std::optional<StageId> stage;  ///< none: begun, without a term
  std::uint64_t terms = 0;       ///< taken
  std::uint64_t mark = 0;        ///< which: equal sets of terms have equal marks, others hardly ever
};

/// With the terms of a computation's box of points. `before` is none where the element is no sum under way: what is
/// added to it then is too much.
SumTerms with_terms(const LoopNest& nest, const std::optional<SumTerms>& before, const Compute& compute,
                    const ElementBox& points);

/// Why the element is no whole result, in words that follow "is read"; nothing where it is one. `finishing`: what is
/// done once for each element, behind its sum, is about to be done.
std::optional<std::string> what_lacks(const LoopNest& nest, const SumTerms& sum, bool finishing);

}  // namespace stowage
