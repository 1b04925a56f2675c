// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lowering/model/group_model.h"
#include "lowering/model/planner.h"

namespace stowage {

/// The planner that swTVM publishes: parallel split (section 5.4), algorithms 4 and 5 (correlation, classification),
/// 1 (LDM management), 2 (loop order) and 3 (DMA insertion). Each records its steps.
class SwtvmPlanner : public Planner {
 public:
  [[nodiscard]] std::string_view name() const override { return "swtvm"; }
  [[nodiscard]] Scheduled complete(const std::string& subject, const StageList& stages, const Schedule& fixed,
                                   const Target& target, TraceSink trace) const override;
};

/// What it does with a group's model. `fixed_by` says who fixed the split over the cores, where that is fixed: a
/// person's schedule, or a planner that uses the algorithms to fill in what it has not chosen itself.
Scheduled run_algorithms(const std::string& subject, const GroupModel& model, const Schedule& fixed,
                         const Target& target, TraceSink trace, SplitBy fixed_by = SplitBy::schedule);

}  // namespace stowage
