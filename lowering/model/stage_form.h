// SPDX-License-Identifier: Apache-2.0
// In which form a group is planned: some axes cut into blocks for vectors to run along them, some taken as one, some
// inputs copied to padded boxes, some passes over the LDM taken as one, a reduction split over cores. Stages, nests and
// schedules speak of the group in that form; what the graph defines has none.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/decision.h"
#include "core/stage.h"
#include "core/target.h"
#include "core/trace.h"
#include "lowering/model/copied_inputs.h"
#include "lowering/model/lane_blocks.h"
#include "lowering/model/planner.h"
#include "lowering/model/schedule.h"

namespace stowage {

struct StageForm {
  LaneBlocks lanes;       ///< lowering/model/lane_blocks.h
  MergedAxes merged;      ///< lowering/model/merged_axes.h, of the axes that there are with the blocks
  CopiedInputs copied;    ///< lowering/model/copied_inputs.h
  bool folded = false;    ///< lowering/model/folded_stages.h, of the stages that there are with the blocks
  SplitReductions split;  ///< lowering/model/split_reductions.h, of the iterators that there are with all of these
  friend bool operator==(const StageForm&, const StageForm&) = default;
};

/// The form that a schedule gives the stages; what it says nothing about stays as it is.
StageForm form_of(const Schedule& schedule);
Schedule with_form(Schedule schedule, const StageForm& form);

/// How the stages of a form are made. Plans of earlier versions have what these made.
struct FormRules {
  LaneFollowers followers = LaneFollowers::all;
  CopyReaders readers = CopyReaders::all;
};

/// Stages of the graph in a form. Refuses (rule "schedule") what cannot be.
std::variant<StageList, Decision> in_form(StageList stages, const StageForm& form, FormRules rules = {});

/// The forms among which the cheapest plan is looked for, where `fixed` is fixed: what that says. Where it leaves a
/// form to a planner that chooses them, iterators that it speaks of stay as they are. The first is the one with fewest
/// changes.
std::vector<StageForm> forms_to_plan(const Planner& planner, StageList stages, const Schedule& fixed,
                                     const Target& target);

/// Takes out of a search's records what planner swtvm would make of axes in blocks, of copied inputs or of folded
/// stages: that is not the published plan.
void leave_out_published(std::vector<TraceRecord>& records, const StageForm& form);

/// Records the form that was chosen: of the stages in it.
void tell_form(TraceSink trace, const std::string& subject, const StageList& stages, const StageForm& form);

}  // namespace stowage
