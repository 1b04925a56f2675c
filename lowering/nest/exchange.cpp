// SPDX-License-Identifier: Apache-2.0
#include "lowering/nest/exchange.h"

#include <fmt/format.h>

#include "core/decision_rules.h"
#include "lowering/ir/register_broadcasts.h"

namespace stowage {

std::optional<Decision> check_exchange(const LoopNest& nest, const Target& target) {
  const auto impossible = broadcasts_not_by_registers(nest, target);
  if (impossible.empty()) return std::nullopt;
  return Decision::refuse(schedule_rule,
                          fmt::format("split_reductions: what a core has summed cannot be sent along its row: {}",
                                      impossible.begin()->second));
}

}  // namespace stowage
