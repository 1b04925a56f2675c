// SPDX-License-Identifier: Apache-2.0
// In which form the axes of a group are planned: some cut into blocks for vectors to run along them, some taken as one.
// Stages, nests and schedules speak of the axes in that form; what the graph defines has none.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/decision.h"
#include "core/stage.h"
#include "core/target.h"
#include "core/trace.h"
#include "lowering/model/planner.h"
#include "lowering/model/schedule.h"

namespace stowage {

struct AxisForm {
  LaneBlocks lanes;   ///< lowering/model/lane_blocks.h
  MergedAxes merged;  ///< lowering/model/merged_axes.h, of the axes that there are with the blocks
  friend bool operator==(const AxisForm&, const AxisForm&) = default;
};

/// The form that a schedule gives the axes; what it says nothing about stays as it is.
AxisForm form_of(const Schedule& schedule);
Schedule with_form(Schedule schedule, const AxisForm& form);

/// Stages of the graph in a form. Refuses (rule "schedule") what cannot be.
std::variant<StageList, Decision> in_form(StageList stages, const AxisForm& form);

/// The forms among which the cheapest plan is looked for, where `fixed` is fixed: what that says. Where it leaves a
/// form to a planner that chooses them, iterators that it speaks of stay as they are. The first is the one with fewest
/// changes.
std::vector<AxisForm> forms_to_plan(const Planner& planner, StageList stages, const Schedule& fixed,
                                    const Target& target);

/// Takes out of a search's records what planner swtvm would make of axes in blocks: that is not the published plan.
void leave_out_published(std::vector<TraceRecord>& records, const AxisForm& form);

/// Records the form that was chosen: of the stages in it.
void tell_form(TraceSink trace, const std::string& subject, const StageList& stages, const AxisForm& form);

}  // namespace stowage
