// SPDX-License-Identifier: Apache-2.0
// Tables of what fusion looked at: candidate groups with what became of them, and strategies beside each other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "driver/report/table.h"
#include "driver/session/session.h"
#include "fusion/groups/fusion_record.h"

namespace stowage {

/// Some candidates of a compilation's record; keys: number, fate, operators, cycles, loss, share, template, why, flip.
PlanTable candidates_table(const Compilation& compilation, std::span<const CandidateRecord* const> candidates);

/// What is known of one strategy's groups.
struct StrategyNumbers {
  std::string strategy;
  std::int64_t groups = 0;
  std::optional<std::int64_t> kernels = {};
  std::optional<std::int64_t> cycles = {};
  std::optional<std::int64_t> bytes = {};    ///< of DMA
  std::optional<std::int64_t> differs = {};  ///< places where its groups are others than the plan's
  std::string remark = {};
};

/// Keys: strategy, groups, kernels, cycles, over_best, dma_bytes, differs, remark. `cycles` says what the cycles are.
PlanTable strategies_table(std::span<const StrategyNumbers> strategies, std::string cycles);

}  // namespace stowage
