// SPDX-License-Identifier: Apache-2.0
#include "lowering/swtvm/idle_slots.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/decision_rules.h"
#include "core/number_text.h"
#include "lowering/model/buffer_slots.h"

namespace stowage {

std::map<std::string, int> idle_slots(const GroupModel& model, const Schedule& complete, const ReadSchedule& read) {
  std::map<std::string, int> idle;
  for (const BufferId b : model.buffers.ids()) {
    const ModelBuffer& buffer = model.buffers[b];
    const auto slots = complete.slots.find(buffer.name);
    if (buffer.kind == ModelBuffer::Kind::intermediate || slots == complete.slots.end() || slots->second == 1) continue;
    const std::vector<std::size_t> path = path_of(model, read.order, buffer);
    const auto around = std::span(path).first(read.depth[b]);
    std::int64_t moved = 1;
    for (const std::size_t l : around) moved = std::min<std::int64_t>(max_slots, moved * read.loop(l).trips);
    if (moved < slots->second) idle[buffer.name] = static_cast<int>(moved);
  }
  return idle;
}

std::map<std::string, int> idle_slots(const GroupModel& model, const Schedule& complete) {
  const auto read = read_schedule(model, complete);
  if (std::holds_alternative<Decision>(read)) return {};
  return idle_slots(model, complete, std::get<ReadSchedule>(read));
}

Scheduled refusing_idle_slots(const GroupModel& model, Scheduled scheduled) {
  const auto* schedule = std::get_if<Schedule>(&scheduled);
  if (schedule == nullptr) return scheduled;
  const std::map<std::string, int> idle = idle_slots(model, *schedule);
  if (idle.empty()) return scheduled;
  std::map<int, std::vector<std::string>> by_use;
  for (const auto& [tensor, used] : idle) by_use[used].push_back(tensor);
  std::vector<std::string> remedies;
  for (const auto& [used, tensors] : by_use) {
    remedies.push_back(
        fmt::format("{} of {}", used == 1 ? "one slot" : counted(used, "slot"), fmt::join(tensors, ", ")));
  }
  const auto& [tensor, used] = *idle.begin();
  return Decision::refuse(schedule_rule,
                          fmt::format("slots: {} is moved {} with these buffer sizes, and needs no {} slot for that",
                                      tensor, used == 1 ? "once" : counted(used, "time"),
                                      used == 1   ? "second"
                                      : used == 2 ? "third"
                                                  : "fourth"),
                          fmt::format("{}", fmt::join(remedies, ", ")));
}

}  // namespace stowage
