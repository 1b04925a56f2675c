// SPDX-License-Identifier: Apache-2.0
// Random slots for property tests.
#pragma once

#include "lowering/model/buffer_slots.h"
#include "lowering/model/schedule.h"
#include "operator_draw.h"

namespace stowage::fixtures {

/// A planned schedule's split with smaller buffers, so that more moves in loops and there is room for slots, and two
/// to four slots for most of the tensors that may have them.
inline Schedule random_slots(OperatorDraw& draw, const GroupModel& model, const Schedule& planned) {
  Schedule fixed;
  fixed.parallel = planned.parallel;
  for (const auto& [iterator, size] : planned.buffer) {
    if (size > 1 && draw.coin()) fixed.buffer[iterator] = draw.between(1, size);
  }
  for (const BufferId b : model.buffers.ids()) {
    const ModelBuffer& buffer = model.buffers[b];
    if (buffer.kind == ModelBuffer::Kind::intermediate || !why_one_slot(model, b).empty()) continue;
    if (draw.between(0, 3) == 0) continue;
    const bool deep = draw.between(0, 3) == 0;
    fixed.slots[buffer.name] =
        deep ? static_cast<int>(draw.between(double_buffer_slots + 1, max_slots)) : double_buffer_slots;
  }
  return fixed;
}

}  // namespace stowage::fixtures
