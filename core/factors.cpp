// SPDX-License-Identifier: Apache-2.0
#include "core/factors.h"

#include <variant>

namespace stowage {

std::optional<std::pair<ReadId, ReadId>> factors_of(const Stage& stage) {
  if (stage.reduction != Reduction::sum) return std::nullopt;
  const auto* const product = std::get_if<ScalarNode::Binary>(&stage.body->value);
  if (product == nullptr || product->op != BinaryOp::multiply) return std::nullopt;
  const auto* const a = std::get_if<ScalarNode::Read>(&product->a->value);
  const auto* const b = std::get_if<ScalarNode::Read>(&product->b->value);
  if (a == nullptr || b == nullptr || a->read == b->read) return std::nullopt;
  return std::pair(a->read, b->read);
}

}  // namespace stowage
