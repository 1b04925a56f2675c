// SPDX-License-Identifier: Apache-2.0
// What the expressions of a nest are at one moment of a core's way through it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "lowering/check/boxes.h"
#include "lowering/ir/compiled_index.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// Expressions are those of the nest, which must outlive this.
class IndexNumbers {
 public:
  explicit IndexNumbers(const LoopNest& nest) : nest_(nest) {}

  std::vector<std::int64_t> of_variables;  ///< by variable, then of first elements of buffers, which are not known

  /// Throws LookupOutside where a table has no such element, or a value is asked for of a buffer that there is not.
  std::int64_t value(const IndexExpr& e);
  std::vector<std::int64_t> all(const std::vector<IndexExpr>& expressions);
  ElementBox box_of(const std::vector<Range>& ranges);

 private:
  const LoopNest& nest_;
  std::unordered_map<const IndexExpr*, CompiledIndex> compiled_;
};

}  // namespace stowage
