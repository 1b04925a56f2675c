// SPDX-License-Identifier: Apache-2.0
#include "lowering/model/buffer_slots.h"

#include <optional>

namespace stowage {

IdVector<BufferId, int> slots_by_buffer(const GroupModel& model, const std::map<std::string, int>& of_tensors) {
  IdVector<BufferId, int> slots(model.buffers.size(), 1);
  for (const BufferId b : slots.ids()) {
    if (model.buffers[b].kind == ModelBuffer::Kind::intermediate) continue;
    const auto found = of_tensors.find(model.buffers[b].name);
    if (found == of_tensors.end()) continue;
    for (std::optional<BufferId> over = b; over; over = model.buffers[*over].shares_with) slots[*over] = found->second;
  }
  return slots;
}

std::string why_one_slot(const GroupModel& model, BufferId buffer) {
  const ModelBuffer& wanted = model.buffers[buffer];
  if (wanted.gathered) return "is loaded from where values say that are loaded with it";
  if (model.split_sum && wanted.kind == ModelBuffer::Kind::output) return "is stored by one core of a row";
  if (wanted.gives_index) return "says where another tensor is loaded from";
  return {};
}

}  // namespace stowage
