// SPDX-License-Identifier: Apache-2.0
// What a person could fix instead of a schedule that no LDM holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/stage.h"
#include "core/target.h"
#include "lowering/model/schedule.h"

namespace stowage {

struct NearestFit {
  std::string text;  ///< as the end of "it would take …"
  Schedule schedule;
  std::int64_t ldm_bytes = 0;  ///< of the target with which it can be planned
};

/// Of a schedule that is refused because buffers exceed the LDM: the changes of one part each with which planner swtvm
/// plans the rest, every one tried: a smaller buffer of an iterator (the largest, where whatever is smaller fits too),
/// one slot of each tensor, an input that is loaded tile by tile, more LDM. Empty where no such change is enough. A
/// planner that searches may have others, with another split. `stages`: as the graph defines them.
std::vector<NearestFit> nearest_that_fit(const StageList& stages, const Schedule& fixed, const Target& target);

}  // namespace stowage
