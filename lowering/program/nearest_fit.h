// SPDX-License-Identifier: Apache-2.0
// What a person could fix instead of a schedule that no LDM holds.
#pragma once

#include <string>
#include <vector>

#include "core/stage.h"
#include "core/target.h"
#include "lowering/model/schedule.h"

namespace stowage {

struct NearestFit {
  std::string text;  ///< as the end of "it would take …"
  Schedule schedule;
};

/// Of a schedule that is refused because buffers exceed the LDM: the changes of one fixed part each with which the rest
/// can be planned: the largest smaller buffer of an iterator, one slot of each tensor, an input that is loaded tile by
/// tile. `stages` are as the schedule's form has them. Empty where no such change is enough.
std::vector<NearestFit> nearest_that_fit(const StageList& stages, const Schedule& fixed, const Target& target);

}  // namespace stowage
