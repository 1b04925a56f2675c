// SPDX-License-Identifier: Apache-2.0
#include "lowering/swtvm/read_schedule.h"

#include "core/decision_rules.h"

#include <algorithm>

#include <fmt/format.h>

namespace stowage {
namespace {

std::optional<Decision> read_sizes(const GroupModel& model, const Schedule& schedule, ReadSchedule& read) {
  for (const ModelIterator& iterator : model.iterators) {
    const auto found = schedule.buffer.find(iterator.name);
    if (found == schedule.buffer.end()) {
      return Decision::refuse(schedule_rule, fmt::format("no buffer size for {}", iterator.name));
    }
    read.sizes.push_back(found->second);
  }
  return std::nullopt;
}

std::optional<Decision> read_order(const GroupModel& model, const std::vector<std::string>& order, ReadSchedule& read) {
  for (const IteratorId i : model.iterators.ids()) {
    const std::string& name = model.iterators[i].name;
    const std::string loop = read.sizes[i] == 1 ? name : name + "o";
    const bool has_loop = std::find(order.begin(), order.end(), loop) != order.end();
    if (!has_loop && read.sizes[i] < read.ranges[i]) {
      return Decision::refuse(schedule_rule,
                              fmt::format("the order has no loop {} although {} of {} elements are buffered", loop,
                                          read.sizes[i], read.ranges[i]));
    }
    read.whole.push_back(!has_loop);
  }
  const auto loops = outer_loops(model, read.ranges, {read.sizes, read.whole});
  for (const std::string& name : order) {
    const auto loop = std::find_if(loops.begin(), loops.end(), [&](const OuterLoop& l) { return l.name == name; });
    if (loop == loops.end()) return Decision::refuse(schedule_rule, fmt::format("there is no outer loop {}", name));
    read.order.push_back(*loop);
  }
  return std::nullopt;
}

/// A transfer stands where algorithm 3 puts it, or further inside where the schedule says so.
void read_places(const GroupModel& model, const Schedule& schedule, ReadSchedule& read) {
  read.depth = insert_dma(model, read.order, {}, read.residents);
  for (const BufferId b : model.buffers.ids()) {
    const auto wanted = schedule.dma.find(model.buffers[b].name);
    if (wanted == schedule.dma.end()) continue;
    const auto path = path_of(model, read.order, model.buffers[b]);
    for (std::size_t p = 0; p < path.size(); ++p) {
      if (read.loop(path[p]).name == wanted->second) read.depth[b] = std::max(read.depth[b], p + 1);
    }
  }
}

/// The main chain; other loops belong to earlier stages only.
void find_main_chain(const GroupModel& model, ReadSchedule& read) {
  const auto add = [&](bool spatial) {
    for (std::size_t l = 0; l < read.order.size(); ++l) {
      const IteratorId iterator = read.order[l].iterator;
      const bool wanted = spatial ? model.iterators[iterator].spatial : model.is_main_reduction(iterator);
      if (wanted) read.main.push_back(l);
    }
  };
  add(true);
  read.spatial_loops = read.main.size();
  add(false);
}

}  // namespace

std::variant<ReadSchedule, Decision> read_schedule(const GroupModel& model, const Schedule& schedule) {
  ReadSchedule read;
  read.parallel = schedule.parallel.value_or(std::vector<ParallelSplit>{});
  read.ranges = core_ranges(model, read.parallel);
  read.residents = Residents(model, schedule.resident, read.ranges);
  if (auto refused = read_sizes(model, schedule, read)) return *refused;
  if (auto refused = read_order(model, schedule.order.value_or(std::vector<std::string>{}), read)) return *refused;
  read_places(model, schedule, read);
  find_main_chain(model, read);
  return read;
}

}  // namespace stowage
