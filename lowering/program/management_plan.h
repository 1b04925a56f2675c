// SPDX-License-Identifier: Apache-2.0
// What the management core does for an operator that no plan of the LDM holds: its stages one after the other, each as
// one loop over each of its axes, outermost first as the stage names them, on main memory, which that core reads
// through a cache. No transfers, no LDM; the computing cores wait.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/decision.h"
#include "core/target.h"
#include "lowering/program/program.h"

namespace stowage {

class ManagementPlan final : public StepPlan {
 public:
  /// Of a target that has a management core. `refused` says why no plan of the LDM holds the stages.
  ManagementPlan(StageList stages, Decision refused, const Target& target);

  [[nodiscard]] const StageList& stages() const override { return stages_; }
  [[nodiscard]] std::int64_t cycles() const override;
  [[nodiscard]] Scratchpad scratchpad(const Target& target) const override {
    return {"LDM", 0, target.ldm.available()};
  }
  /// The stages, which are the loops (core/stage.h).
  [[nodiscard]] std::string text() const override { return to_text(stages_); }
  [[nodiscard]] std::string reason() const override;
  [[nodiscard]] std::vector<PlanTerm> terms() const override { return terms_; }

  [[nodiscard]] const Decision& refused() const { return refused_; }
  /// Of what one stage leaves to the next, in main memory beside the program's tensors.
  [[nodiscard]] std::int64_t intermediate_bytes() const;

 private:
  StageList stages_;
  Decision refused_;
  std::vector<PlanTerm> terms_;
};

/// Of one operator that `refused` says no plan of the LDM holds: what the management core does, or `refused` where the
/// target has none, or where it would take more cycles than are counted.
std::variant<ManagementPlan, Decision> plan_without_ldm(StageList stages, Decision refused, const Target& target);

/// Bytes between main memory and a cache of `cache_bytes` that a stage's loops move, by whole lines: from the loop that
/// is the outermost to leave what it touches in the cache, everything that is touched again is still there. What is
/// written is fetched before.
double cached_traffic(const StageList& list, const Stage& stage, std::int64_t cache_bytes, std::int64_t line_bytes);

}  // namespace stowage
