// SPDX-License-Identifier: Apache-2.0
#include "driver/report/model_buffers.h"

#include "driver/report/nest_outline.h"

namespace stowage {

const ModelBuffer* model_buffer_of(const LoopNest& nest, const GroupModel& model, BufferId buffer) {
  std::optional<BufferId> found;
  visit_statements(nest.body, [&](const Stmt& statement) {
    const auto* compute = std::get_if<Compute>(&statement.node);
    if (compute == nullptr || found) return;
    if (compute->output_buffer == buffer) found = model.buffer_of_output.at(compute->stage);
    for (const ReadId r : compute->read_buffers.ids()) {
      if (found || !compute->read_buffers[r] || *compute->read_buffers[r] != buffer) continue;
      const auto served = model.buffer_of_read.find({compute->stage, r});
      if (served != model.buffer_of_read.end()) found = served->second;
    }
  });
  return found ? &model.buffers.at(*found) : nullptr;
}

const std::string& name_of_buffer(const LoopNest& nest, const GroupModel& model, BufferId buffer) {
  const ModelBuffer* known = model_buffer_of(nest, model, buffer);
  return known != nullptr ? known->name : tensor_of_buffer(nest, buffer);
}

bool moves_with(const LoopNest& nest, const GroupModel& model, BufferId buffer, const std::string& iterator) {
  const ModelBuffer* known = model_buffer_of(nest, model, buffer);
  const auto found = model.iterator_named(iterator);
  return known != nullptr && found && known->moved_by.contains(*found);
}

}  // namespace stowage
