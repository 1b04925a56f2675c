// SPDX-License-Identifier: Apache-2.0
// Lowering as a list of passes. build_nest() makes a nest from a schedule, and each pass makes another nest from that.
// The table below is what lower() runs, in order, and what `stowage passes` prints.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/model/schedule.h"
#include "lowering/nest/lower.h"

namespace stowage {

/// What comes before the passes: the loops of the schedule, with the transfers and computations at their places.
/// Every decision whether there is a nest at all is made here.
Lowered build_nest(const std::string& name, const GroupModel& model, const Schedule& schedule, const Target& target);

LoopNest clip_and_pad(LoopNest nest, const Target& target);
LoopNest double_buffer(LoopNest nest, const Target& target);
LoopNest choose_forms(LoopNest nest, const Target& target);
LoopNest set_dma_units(LoopNest nest, const Target& target);

struct Pass {
  std::string_view name;
  std::string_view summary;  ///< one sentence
  /// Of a nest of sound structure; what it does not change it shares with that.
  LoopNest (*run)(LoopNest nest, const Target& target);
  bool mends = false;  ///< it takes nests that are not sound yet and leaves sound ones (docs/ir.md)
};

inline constexpr std::string_view build_name = "build";
inline constexpr std::string_view build_summary =
    "Loops, LDM buffers, transfers of whole boxes and computations, from the schedule.";

inline constexpr Pass nest_passes[] = {
    {"clip-and-pad", "Gets end where their tensors do; what lies outside is filled once, as far out as it is known.",
     clip_and_pad, true},
    {"double-buffer", "Buffers of several slots are loaded a trip ahead, and stored while the next trips compute.",
     double_buffer},
    {"choose-forms", "Every computation runs as plain loops, as a vector loop or as register blocks.", choose_forms},
    {"dma-units", "Aligned transfers of elements narrower than the DMA's unit move whole units.", set_dma_units},
};

/// Nullptr for an unknown name.
const Pass* find_pass(std::string_view name);
/// Its place in the order: 1 is build, 0 an unknown name.
int pass_number(std::string_view name);

/// The nest after build and after each pass that changed its text.
struct NestAfter {
  std::string_view pass;
  std::string text;
};
std::vector<NestAfter> lower_pass_by_pass(const std::string& name, const StageList& stages, const Schedule& schedule,
                                          const Target& target);

}  // namespace stowage
