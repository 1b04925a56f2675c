// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/schedule_space.h"

#include <algorithm>

#include "lowering/model/buffer_slots.h"
#include "lowering/model/residents.h"
#include "lowering/model/sharing.h"
#include "lowering/swtvm/swtvm.h"

namespace stowage {
namespace {

const std::string& name_of(const GroupModel& model, IteratorId iterator) { return model.iterators[iterator].name; }

}  // namespace

std::vector<std::int64_t> tile_lengths(std::int64_t range, std::int64_t vector, std::int64_t line) {
  std::set<std::int64_t> lengths;
  for (std::int64_t tiles = 1; tiles <= range;) {
    const std::int64_t shortest = ceil_div(range, tiles);
    const std::int64_t of_so_many = ceil_div(range, shortest);
    for (const std::int64_t piece : {std::int64_t{1}, vector, line}) {
      const std::int64_t length = ceil_div(shortest, piece) * piece;
      if (ceil_div(range, length) == of_so_many) lengths.insert(std::min(length, range));
    }
    if (shortest == 1) break;
    tiles = ceil_div(range, shortest - 1);  // the next number of tiles that makes them shorter
  }
  return {lengths.begin(), lengths.end()};
}

ScheduleSpace::ScheduleSpace(const GroupModel& model, const Schedule& person, const Target& target)
    : model_(model), person_(person), target_(target) {
  if (!person.order) find_orders();
}

/// The orders of one kind of loops after the other; kinds are spatial ones and the sums of each stage.
void ScheduleSpace::find_orders() {
  const IdVector<IteratorId, int> ranks = ranks_of_stores(model_);
  std::vector<LoopOrder> kinds(1);
  std::vector<StageId> stages;
  for (const IteratorId i : model_.iterators.ids()) {
    const ModelIterator& iterator = model_.iterators[i];
    if (iterator.extent <= 1) continue;
    std::size_t kind = 0;
    if (!iterator.spatial) {
      const auto found = std::find(stages.begin(), stages.end(), iterator.stage);
      kind = static_cast<std::size_t>(found - stages.begin()) + 1;
      if (found == stages.end()) {
        stages.push_back(iterator.stage);
        kinds.emplace_back();
      }
    }
    kinds[kind].push_back(i);
  }
  std::vector<LoopOrder> orders = {{}};
  for (LoopOrder& kind : kinds) {
    std::vector<LoopOrder> longer;
    std::sort(kind.begin(), kind.end());
    do {
      const bool stores_once = std::is_sorted(kind.begin(), kind.end(), [&](IteratorId a, IteratorId b) {
        const auto rank = [&](IteratorId i) { return model_.iterators[i].spatial ? ranks[i] : 0; };
        return rank(a) < rank(b);
      });
      if (!stores_once) continue;
      for (const LoopOrder& order : orders) {
        longer.push_back(order);
        longer.back().insert(longer.back().end(), kind.begin(), kind.end());
      }
      if (longer.size() > most_orders) return;
    } while (std::next_permutation(kind.begin(), kind.end()));
    orders = std::move(longer);
  }
  orders_ = std::move(orders);
}

GridSpace ScheduleSpace::over(CoreGrid grid) const {
  GridSpace space;
  space.grid = std::move(grid);
  space.ranges = core_ranges(model_, space.grid.parallel);
  int narrowest = 0;
  for (const ModelBuffer& buffer : model_.buffers) {
    const int bytes = byte_size(model_.list->tensors[buffer.tensor].type);
    if (buffer.kind != ModelBuffer::Kind::intermediate && (narrowest == 0 || bytes < narrowest)) narrowest = bytes;
  }
  const std::int64_t line = std::max(1, target_.main_memory.line_bytes / std::max(1, narrowest));
  const std::int64_t vector = std::max(1, target_.cores.vector_lanes);
  for (const IteratorId i : model_.iterators.ids()) {
    const std::int64_t range = space.ranges[i];
    const auto fixed = person_.buffer.find(model_.iterators[i].name);
    if (fixed != person_.buffer.end()) {
      space.lengths.push_back({std::min(fixed->second, range)});
    } else if (model_.pinned.contains(i)) {
      space.lengths.push_back({1});
    } else {
      space.lengths.push_back(tile_lengths(range, vector, line));
    }
  }
  for (const BufferId b : model_.buffers.ids()) {
    const ModelBuffer& buffer = model_.buffers[b];
    const bool is_input = buffer.kind == ModelBuffer::Kind::input;
    std::vector<std::set<IteratorId>> residents(1);
    if (const auto fixed = person_.resident.find(buffer.name); fixed != person_.resident.end()) {
      for (const std::string& along : fixed->second) {
        if (const auto iterator = model_.iterator_named(along)) residents.front().insert(*iterator);
      }
    } else if (is_input) {
      std::set<IteratorId> all, sums, others;
      for (const IteratorId i : buffer.moved_by) {
        if (space.ranges[i] <= 1 || space.lengths[i].front() == space.ranges[i]) continue;
        if (!why_not_resident(model_, b, i).empty()) continue;
        all.insert(i);
        (model_.iterators[i].spatial ? others : sums).insert(i);
      }
      if (!all.empty()) residents.push_back(all);
      if (!sums.empty() && !others.empty()) residents.insert(residents.end(), {sums, others});
    }
    space.residents.push_back(std::move(residents));
    std::vector<int> slots = {1};
    if (const auto fixed = person_.slots.find(buffer.name); fixed != person_.slots.end()) {
      slots = {fixed->second};
    } else if (buffer.kind != ModelBuffer::Kind::intermediate && why_one_slot(model_, b).empty()) {
      slots.push_back(double_buffer_slots);
    }
    space.slots.push_back(std::move(slots));
    std::vector<SharedBy> sharing = {SharedBy::core};
    if (const auto fixed = person_.sharing.find(buffer.name); fixed != person_.sharing.end()) {
      sharing = {fixed->second};
    } else if (is_input && space.grid.sharing[b] != SharedBy::core) {
      sharing.push_back(space.grid.sharing[b]);
    }
    space.sharing.push_back(std::move(sharing));
  }
  return space;
}

LoopOrder ScheduleSpace::with_loops(const LoopOrder& order, const GridSpace& space, const IteratorSizes& sizes) const {
  LoopOrder loops;
  for (const IteratorId i : order) {
    if (sizes[i] < space.ranges[i]) loops.push_back(i);
  }
  return loops;
}

Schedule ScheduleSpace::schedule(const GridSpace& space, const SpacePoint& point) const {
  Schedule schedule = person_;
  schedule.parallel = space.grid.parallel;
  for (const IteratorId i : point.sizes.ids()) {
    if (space.ranges[i] > 1) schedule.buffer[model_.iterators[i].name] = point.sizes[i];
  }
  if (!orders_.empty()) {
    schedule.order.emplace();
    for (const IteratorId i : point.order) {
      schedule.order->push_back(name_of(model_, i) + (point.sizes[i] == 1 ? "" : "o"));
    }
  }
  for (const BufferId b : model_.buffers.ids()) {
    const std::string& name = model_.buffers[b].name;
    if (model_.buffers[b].kind == ModelBuffer::Kind::intermediate) continue;
    schedule.slots[name] = point.slots[b];
    if (point.sharing[b] != SharedBy::core) schedule.sharing[name] = point.sharing[b];
    if (point.resident[b].empty()) continue;
    std::set<std::string>& along = schedule.resident[name];
    along.clear();
    for (const IteratorId i : point.resident[b]) along.insert(name_of(model_, i));
  }
  return schedule;
}

}  // namespace stowage
