// SPDX-License-Identifier: Apache-2.0
#include "lowering/nest/intermediates.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/same_padding.h"

namespace stowage {
namespace {

/// A stage that reads at places from a table, among those that compute `stage` inside the group; null for none.
const Stage* table_reader(const IdVector<StageId, Stage>& stages, StageId stage) {
  const Stage& s = stages[stage];
  for (const Access& read : s.reads) {
    if (std::any_of(read.index.begin(), read.index.end(), has_table)) return &s;
    for (StageId earlier; earlier < stage; ++earlier) {
      if (stages[earlier].output != read.tensor) continue;
      if (const Stage* found = table_reader(stages, earlier)) return found;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<Decision> check_intermediates(const GroupModel& model) {
  const IdVector<StageId, Stage>& stages = model.list->stages;
  for (const ModelBuffer& buffer : model.buffers) {
    if (buffer.kind != ModelBuffer::Kind::intermediate || !buffer.padding) continue;
    for (const auto& [reader, read] : buffer.reads) {
      const auto& padding = stages[reader].reads[read].padding;
      if (!padding || same_padding(padding, buffer.padding)) continue;
      return Decision::refuse("padded-intermediate", fmt::format("outside of {} one reader sees {}, another one {}",
                                                                 buffer.name, *buffer.padding, *padding));
    }
    if (const Stage* by_table = table_reader(stages, buffer.stage)) {
      return Decision::refuse("table-in-window",
                              fmt::format("{} reads at places from a table, and of {} a tile may demand nothing but "
                                          "what lies outside of it, where the table ends",
                                          by_table->name, buffer.name));
    }
  }
  return std::nullopt;
}

}  // namespace stowage
