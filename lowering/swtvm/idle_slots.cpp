// SPDX-License-Identifier: Apache-2.0
#include "lowering/swtvm/idle_slots.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/decision_rules.h"

namespace stowage {

std::vector<std::string> idle_slots(const GroupModel& model, const Schedule& complete, const ReadSchedule& read) {
  std::vector<std::string> idle;
  for (const BufferId b : model.buffers.ids()) {
    const ModelBuffer& buffer = model.buffers[b];
    const auto slots = complete.slots.find(buffer.name);
    if (buffer.kind == ModelBuffer::Kind::intermediate || slots == complete.slots.end() || slots->second == 1) continue;
    const std::vector<std::size_t> path = path_of(model, read.order, buffer);
    const auto around = std::span(path).first(read.depth[b]);
    const bool moves = std::any_of(around.begin(), around.end(), [&](std::size_t l) { return read.loop(l).trips > 1; });
    if (!moves) idle.push_back(buffer.name);
  }
  return idle;
}

std::vector<std::string> idle_slots(const GroupModel& model, const Schedule& complete) {
  const auto read = read_schedule(model, complete);
  if (std::holds_alternative<Decision>(read)) return {};
  return idle_slots(model, complete, std::get<ReadSchedule>(read));
}

Scheduled refusing_idle_slots(const GroupModel& model, Scheduled scheduled) {
  const auto* schedule = std::get_if<Schedule>(&scheduled);
  if (schedule == nullptr) return scheduled;
  const std::vector<std::string> idle = idle_slots(model, *schedule);
  if (idle.empty()) return scheduled;
  return Decision::refuse(schedule_rule,
                          fmt::format("slots: {} is moved once with these buffer sizes, and needs no second slot for "
                                      "that",
                                      idle.front()),
                          fmt::format("one slot of {}", fmt::join(idle, ", ")));
}

}  // namespace stowage
