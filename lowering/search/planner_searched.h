// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lowering/model/planner.h"

namespace stowage {

/// The planner that looks for the split over the cores instead of deriving it: the published algorithms plan one core's
/// ranges under every grid that could be best, and the plan of least estimated cycles wins. Around the best plans it
/// then tries buffer sizes and loop orders next to those of the algorithms, and at last three and four slots.
/// docs/searched.md tells how.
///
/// Never worse than planner swtvm under the time model, whose plan it begins with (of merged axes: plan_group.h). What
/// a person has fixed stays.
class SearchedPlanner : public Planner {
 public:
  [[nodiscard]] std::string_view name() const override { return "searched"; }
  [[nodiscard]] bool chooses_forms() const override { return true; }
  /// Behind a barrier, where a target says what that takes, and it is less than a spawn.
  [[nodiscard]] LaunchedBy launch(const Target& target) const override;
  [[nodiscard]] Scheduled complete(const std::string& subject, const StageList& stages, const Schedule& fixed,
                                   const Target& target, TraceSink trace) const override;
  [[nodiscard]] Chosen choose(const std::string& subject, const StageList& stages, const Schedule& fixed,
                              const Target& target, TraceSink trace, std::int64_t to_beat,
                              const std::stop_token& over) const override;
  [[nodiscard]] Scheduled complete_chosen(const std::string& subject, const StageList& stages, const Schedule& chosen,
                                          const Target& target, TraceSink trace) const override;
};

}  // namespace stowage
