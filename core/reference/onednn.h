// SPDX-License-Identifier: Apache-2.0
// Operators by oneDNN 2.6, independently of their definitions. Internal to core/reference.
#pragma once

#include <optional>
#include <vector>

#include "core/graph.h"

namespace stowage::reference {

struct OneDnnCall {
  const Operator& op;
  const std::vector<std::optional<Tensor>>& inputs;  ///< by operand slot
  ElementType output_type;
  const Shape& output_shape;
};

/// The operator's value; nothing where oneDNN has no primitive with exactly its meaning, or not for these operands:
/// their types and shapes, or NaN and infinities among them.
std::optional<Tensor> run_by_onednn(const OneDnnCall& call);

}  // namespace stowage::reference
