// SPDX-License-Identifier: Apache-2.0
// Fused operators in time, simulated beside the window's thread, and kept by what they were simulated of.
#pragma once

#include <QString>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/progress.h"
#include "inspector/state/loaded_plan.h"
#include "lowering/simulate/timeline_tracks.h"

namespace stowage::inspector {

/// Of a fused operator that has a plan.
struct SimulatedGroup {
  std::shared_ptr<const TimelineTracks> tracks;  ///< null where it was refused, or stopped
  QString refusal;                               ///< why, in a sentence
};

/// What decides all that the simulation tells: the nest and the target, as text. Empty of a view.
std::string key_of(const LoadedPlan& plan, std::optional<StepId> step);
/// For worker threads. Of a step that has a plan.
SimulatedGroup simulate_group(const LoadedPlan& plan, std::optional<StepId> step, const std::stop_token& stop);

/// By step; a view and one that is refused have none. Empty if it was stopped.
using SimulatedSteps = IdVector<StepId, std::optional<Simulation>>;
/// For worker threads.
SimulatedSteps simulate_steps(const LoadedPlan& plan, const std::stop_token& stop, const ProgressSink& progress);

/// The newest ones.
class SimulatedGroups {
 public:
  /// Null if there is none.
  [[nodiscard]] const SimulatedGroup* find(const std::string& key) const;
  void keep(const std::string& key, SimulatedGroup group);

 private:
  std::deque<std::pair<std::string, SimulatedGroup>> kept_;  ///< newest first
};

}  // namespace stowage::inspector
