// SPDX-License-Identifier: Apache-2.0
// Lowering as a list of passes. The first two make a nest from a schedule (build_nest.h), and each of the others makes
// another nest from the one before it. lower() runs the tables below in their order, and `stowage passes` prints them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/model/group_model.h"
#include "lowering/model/schedule.h"
#include "lowering/nest/build_nest.h"
#include "lowering/nest/lower.h"

namespace stowage {

LoopNest clip_and_pad(LoopNest nest, const Target& target);
LoopNest double_buffer(LoopNest nest, const Target& target);
LoopNest choose_forms(LoopNest nest, const Target& target);
LoopNest keep_in_registers(LoopNest nest, const Target& target);
LoopNest slide_windows(LoopNest nest, const Target& target);
LoopNest set_dma_units(LoopNest nest, const Target& target);

struct Pass {
  std::string_view name;
  std::string_view summary;  ///< one sentence
  /// Takes a nest of sound structure; the statements that it does not change are shared by both.
  LoopNest (*run)(LoopNest nest, const Target& target);
  bool mends = false;  ///< it takes nests that are not sound yet and leaves sound ones (docs/ir.md)
};

/// What is lowered.
struct ScheduledGroup {
  const std::string& name;
  const GroupModel& model;
  const Schedule& schedule;
  const Target& target;
};

std::variant<BuiltNest, Decision> run_build(BuiltNest nothing, const ScheduledGroup& group);
std::variant<BuiltNest, Decision> run_place_transfers(BuiltNest built, const ScheduledGroup& group);

/// A pass that needs the schedule: it runs inside of lower() only.
struct SchedulePass {
  std::string_view name;
  std::string_view summary;  ///< one sentence
  /// Of what the pass before it made, of the first one nothing. A refusal: the schedule has no nest.
  std::variant<BuiltNest, Decision> (*run)(BuiltNest before, const ScheduledGroup& group);
};

inline constexpr SchedulePass build_pass = {"build", "Loops, LDM buffers and computations, from the schedule.",
                                            run_build};
inline constexpr SchedulePass place_transfers_pass = {
    "place-transfers", "Whole boxes are loaded and results stored where the schedule has their places.",
    run_place_transfers};
inline constexpr SchedulePass schedule_passes[] = {build_pass, place_transfers_pass};

inline constexpr Pass nest_passes[] = {
    {"clip-and-pad", "Gets end where their tensors do; what lies outside is filled once, as far out as it is known.",
     clip_and_pad, true},
    {"double-buffer", "Buffers of several slots are loaded ahead, and stored while the next trips compute.",
     double_buffer},
    {"choose-forms", "Every computation runs as plain loops, as a vector loop or as register blocks.", choose_forms},
    {"registers",
     "Sums in register blocks begin in registers, and what follows in their place is computed before the store.",
     keep_in_registers},
    {"slide", "What a tile of an intermediate has in common with the one before is kept, not computed again.",
     slide_windows},
    {"dma-units", "Aligned transfers of elements narrower than the DMA's unit move whole units.", set_dma_units},
};

/// Nullptr for a pass that needs the schedule, and for an unknown name.
const Pass* find_pass(std::string_view name);
/// By its position in the order: 1 is build, 0 an unknown name.
int pass_number(std::string_view name);

/// The nest after build, after place-transfers and after each later pass that changed its text.
struct NestAfter {
  std::string_view pass;
  std::string text;
};
std::vector<NestAfter> lower_pass_by_pass(const std::string& name, const StageList& stages, const Schedule& schedule,
                                          const Target& target);

}  // namespace stowage
