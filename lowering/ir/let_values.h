// SPDX-License-Identifier: Apache-2.0
// What let variables of a nest stand for.
#pragma once

#include <optional>
#include <vector>

#include "lowering/ir/loop_nest.h"

namespace stowage {

/// Lets are added in program order, each a value with those before it put in: in core and loop variables only, where
/// all of a nest's lets are added.
class LetValues {
 public:
  void add(const Let& let);
  /// The value of a variable that was added; null of every other one.
  [[nodiscard]] const IndexExpr* find(VarId variable) const;
  /// With the values put in for the variables.
  [[nodiscard]] IndexExpr expanded(const IndexExpr& e) const;

 private:
  std::vector<std::optional<IndexExpr>> values_;  ///< by variable, as far as they were added
};

/// Of all lets of a nest.
LetValues let_values(const LoopNest& nest);

}  // namespace stowage
