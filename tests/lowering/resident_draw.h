// SPDX-License-Identifier: Apache-2.0
// Random inputs that stay in the LDM, for property tests.
#pragma once

#include "lowering/model/residents.h"
#include "operator_draw.h"

namespace stowage::fixtures {

/// Most inputs that may be, resident along some of the iterators that move them.
inline ResidentInputs random_residents(OperatorDraw& draw, const GroupModel& model) {
  ResidentInputs residents;
  for (const BufferId b : model.buffers.ids()) {
    const bool all = draw.coin();
    for (const IteratorId iterator : model.buffers[b].moved_by) {
      if (!why_not_resident(model, b, iterator).empty() || !(all || draw.coin())) continue;
      residents[model.buffers[b].name].insert(model.iterators[iterator].name);
    }
  }
  return residents;
}

}  // namespace stowage::fixtures
