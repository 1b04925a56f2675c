// SPDX-License-Identifier: Apache-2.0
// The parts of a schedule that are one of a few: slots and sharing of a transfer, what stays in the LDM, the form of
// the stages, the launch. Each option is a schedule with that part only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/stage.h"
#include "core/target.h"
#include "lowering/model/schedule.h"

namespace stowage::inspector {

/// The first three are of one tensor, the last six of the group.
enum class ChosenPart : std::uint8_t { slots, sharing, resident, lanes, merged, copied, folded, split, launch };

struct ChoiceControl {
  ChosenPart part = ChosenPart::slots;
  std::string tensor;             ///< of the first three
  std::vector<Schedule> options;  ///< the first is what there is where a complete schedule says nothing
  std::size_t chosen = 0;         ///< of the complete schedule
};

/// Every part with more than one option, or that is fixed. `given`: the stages as the graph defines them; `formed`: as
/// the complete schedule has them. Which options are possible together the planner says when it is asked.
std::vector<ChoiceControl> schedule_choices(const StageList& given, const StageList& formed, const Schedule& complete,
                                            const Schedule& fixed, const Target& target);

/// What a schedule fixes of that part, and nothing else; a default one where it fixes nothing.
Schedule part_of(const Schedule& schedule, const ChoiceControl& control);

/// The schedule that fixes `option`, or with a default one leaves the part to the planner. Another form than the
/// complete schedule has other iterators and tensors: what was fixed of those is free then.
Schedule with_choice(Schedule fixed, const ChoiceControl& control, const Schedule& option);

/// "slots", "loaded by", "kept along", "blocks of lanes", "axes as one", "copied inputs", "folded stages", "split sum",
/// "launch".
std::string title_of(ChosenPart part);
/// The option in words: "2", "mesh", "ff by 16", "none".
std::string option_text(const ChoiceControl& control, const Schedule& option);

}  // namespace stowage::inspector
