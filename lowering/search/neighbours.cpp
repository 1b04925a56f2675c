// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/neighbours.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "lowering/model/buffer_slots.h"
#include "lowering/model/ldm_room.h"
#include "lowering/model/residents.h"
#include "lowering/model/sharing.h"
#include "lowering/swtvm/swtvm.h"

namespace stowage {

IteratorSizes Neighbours::sizes_of(const Schedule& complete) const {
  IteratorSizes sizes;
  for (const ModelIterator& iterator : model_.iterators) sizes.push_back(complete.buffer.at(iterator.name));
  return sizes;
}

std::vector<std::int64_t> Neighbours::sizes_next_to(IteratorId i, std::int64_t size, std::int64_t range) const {
  if (model_.pinned.contains(i) || person_.buffer.contains(model_.iterators[i].name)) return {};
  const std::int64_t tiles = ceil_div(range, size);
  // Also tiles of one length, of which the last is no rest: what is shorter moves block by block.
  std::set<std::int64_t> others = {size / 2, size * 2, range, ceil_div(range, tiles), ceil_div(range, tiles + 1)};
  if (tiles > 1) others.insert(ceil_div(range, tiles - 1));
  std::vector<std::int64_t> found;
  for (const std::int64_t other : others) {
    if (other >= 1 && other <= range && other != size) found.push_back(other);
  }
  return found;
}

/// Of an iterator of one value nothing is fixed: it would get a loop of its own.
void Neighbours::fix_sizes(Schedule& schedule, const IteratorSizes& sizes) const {
  const IteratorSizes ranges = core_ranges(model_, *schedule.parallel);
  for (const IteratorId i : sizes.ids()) {
    if (ranges[i] > 1) schedule.buffer[model_.iterators[i].name] = sizes[i];
  }
}

bool Neighbours::fits(const IteratorSizes& sizes, const Schedule& fixed) const {
  const IdVector<BufferId, int> slots = slots_by_buffer(model_, fixed.slots);
  const Residents residents(model_, fixed.resident,
                            fixed.resident.empty() ? IteratorSizes{} : core_ranges(model_, *fixed.parallel));
  const auto bytes = buffer_bytes(model_, sizes, target_.ldm.alignment, slots, residents);
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}) <= ldm_for_buffers(model_, target_, slots);
}

/// The sizes fixed as well, if they fit.
void Neighbours::add_if_fitting(const Reached& at, const IteratorSizes& sizes, std::vector<Schedule>& found) const {
  Schedule fixed = at.fixed;
  fixed.parallel = at.complete.parallel;
  if (!fits(sizes, fixed)) return;
  fixed.order = person_.order;
  fix_sizes(fixed, sizes);
  found.push_back(std::move(fixed));
}

std::vector<Schedule> Neighbours::single_sizes(const Reached& at) const {
  const IteratorSizes ranges = core_ranges(model_, *at.complete.parallel);
  IteratorSizes sizes = sizes_of(at.complete);
  std::vector<Schedule> found;
  for (const IteratorId i : sizes.ids()) {
    const std::int64_t own = sizes[i];
    for (const std::int64_t other : sizes_next_to(i, own, ranges[i])) {
      sizes[i] = other;
      add_if_fitting(at, sizes, found);
    }
    sizes[i] = own;
  }
  return found;
}

std::int64_t Neighbours::longest_fitting(const Reached& at, IteratorSizes sizes, IteratorId i) const {
  const std::int64_t range = core_ranges(model_, *at.complete.parallel)[i];
  Schedule fixed = at.fixed;
  fixed.parallel = at.complete.parallel;
  std::int64_t fitting = 0, too_long = range + 1;
  while (too_long - fitting > 1) {
    sizes[i] = fitting + (too_long - fitting) / 2;
    (fits(sizes, fixed) ? fitting : too_long) = sizes[i];
  }
  return fitting == 0 ? 0 : ceil_div(range, ceil_div(range, fitting));
}

std::set<std::int64_t> Neighbours::shorter_sizes(const Reached& at, const IteratorSizes& sizes, IteratorId i) const {
  std::set<std::int64_t> shorter;
  for (const std::int64_t size : sizes_next_to(i, sizes[i], core_ranges(model_, *at.complete.parallel)[i])) {
    if (size < sizes[i]) shorter.insert(size);
  }
  if (shorter.empty()) return shorter;
  const std::int64_t longest = longest_fitting(at, sizes, i);
  if (longest > 0 && longest < sizes[i]) shorter.insert(longest);
  return shorter;
}

std::vector<Schedule> Neighbours::paired_sizes(const Reached& at) const {
  const IteratorSizes ranges = core_ranges(model_, *at.complete.parallel);
  IteratorSizes sizes = sizes_of(at.complete);
  std::vector<Schedule> found;
  for (const IteratorId i : sizes.ids()) {
    const std::int64_t longer_before = sizes[i];
    for (const std::int64_t longer : sizes_next_to(i, longer_before, ranges[i])) {
      if (longer < longer_before) continue;
      sizes[i] = longer;
      for (const IteratorId j : sizes.ids()) {
        const std::int64_t shorter_before = sizes[j];
        if (i == j || shorter_before == 1) continue;
        for (const std::int64_t shorter : shorter_sizes(at, sizes, j)) {
          sizes[j] = shorter;
          add_if_fitting(at, sizes, found);
        }
        sizes[j] = shorter_before;
      }
    }
    sizes[i] = longer_before;
  }
  return found;
}

std::vector<Schedule> Neighbours::whole_iterators(const Schedule& fixed) const {
  const IteratorSizes ranges = core_ranges(model_, *fixed.parallel);
  std::vector<Schedule> found;
  for (const IteratorId i : ranges.ids()) {
    const std::string& name = model_.iterators[i].name;
    if (ranges[i] <= 1 || model_.pinned.contains(i) || fixed.buffer.contains(name)) continue;
    found.push_back(fixed);
    found.back().buffer[name] = ranges[i];
  }
  return found;
}

std::vector<Schedule> Neighbours::loop_orders(const Reached& at) const {
  std::vector<Schedule> found;
  if (person_.order) return found;
  const std::vector<std::string>& order = *at.complete.order;
  for (std::size_t l = 0; l + 1 < order.size(); ++l) {
    Schedule fixed = at.fixed;
    fixed.parallel = at.complete.parallel;
    fix_sizes(fixed, sizes_of(at.complete));
    fixed.order = order;
    std::swap((*fixed.order)[l], (*fixed.order)[l + 1]);
    found.push_back(std::move(fixed));
  }
  return found;
}

std::vector<std::string> Neighbours::tensors_with_slots() const {
  std::vector<std::string> tensors;
  for (const BufferId b : model_.buffers.ids()) {
    const ModelBuffer& buffer = model_.buffers[b];
    if (buffer.kind == ModelBuffer::Kind::intermediate || person_.slots.contains(buffer.name)) continue;
    if (why_one_slot(model_, b).empty()) tensors.push_back(buffer.name);
  }
  return tensors;
}

std::vector<Schedule> Neighbours::slot_numbers(const Reached& at) const {
  std::vector<Schedule> found;
  for (const std::string& tensor : tensors_with_slots()) {
    Schedule other = at.fixed;
    const int own = at.complete.slots.at(tensor);
    other.slots[tensor] = own > 1 ? own - 1 : double_buffer_slots;
    add_or_halve({other, at.complete}, found);
    if (own > 1) add_lengthened({other, at.complete}, found);
  }
  return found;
}

std::vector<Schedule> Neighbours::deeper_slots(const Reached& at) const {
  std::vector<Schedule> found;
  for (const std::string& tensor : tensors_with_slots()) {
    const int own = at.complete.slots.at(tensor);
    if (own < double_buffer_slots || own == max_slots) continue;
    Schedule other = at.fixed;
    other.slots[tensor] = own + 1;
    add_or_halve({other, at.complete}, found);
  }
  return found;
}

void Neighbours::add_or_halve(const Reached& at, std::vector<Schedule>& found) const {
  IteratorSizes sizes = sizes_of(at.complete);
  const std::size_t before = found.size();
  add_if_fitting(at, sizes, found);
  if (found.size() > before) return;
  for (const IteratorId i : sizes.ids()) {
    const std::int64_t own = sizes[i];
    if (own == 1 || model_.pinned.contains(i) || person_.buffer.contains(model_.iterators[i].name)) {
      continue;
    }
    sizes[i] = own / 2;
    add_if_fitting(at, sizes, found);
    sizes[i] = own;
  }
}

void Neighbours::add_lengthened(const Reached& at, std::vector<Schedule>& found) const {
  const IteratorSizes ranges = core_ranges(model_, *at.complete.parallel);
  IteratorSizes sizes = sizes_of(at.complete);
  for (const IteratorId i : sizes.ids()) {
    const std::int64_t own = sizes[i];
    if (sizes_next_to(i, own, ranges[i]).empty()) continue;
    for (const std::int64_t longer : std::set{std::min(2 * own, ranges[i]), longest_fitting(at, sizes, i)}) {
      if (longer <= own) continue;
      sizes[i] = longer;
      add_if_fitting(at, sizes, found);
    }
    sizes[i] = own;
  }
}

std::vector<std::set<std::string>> Neighbours::stays_of(const Reached& at, BufferId b) const {
  const IteratorSizes ranges = core_ranges(model_, *at.complete.parallel);
  std::set<std::string> all, sums, others;
  for (const IteratorId iterator : model_.buffers[b].moved_by) {
    const ModelIterator& moving = model_.iterators[iterator];
    if (at.complete.buffer.at(moving.name) >= ranges[iterator] || !why_not_resident(model_, b, iterator).empty())
      continue;
    all.insert(moving.name);
    (moving.spatial ? others : sums).insert(moving.name);
  }
  if (all.empty()) return {};
  if (sums.empty() || others.empty()) return {all};
  return {all, sums, others};
}

std::vector<Schedule> Neighbours::residents(const Reached& at) const {
  std::vector<Schedule> found;
  for (const BufferId b : model_.buffers.ids()) {
    const std::string& name = model_.buffers[b].name;
    if (model_.buffers[b].kind != ModelBuffer::Kind::input || person_.resident.contains(name)) continue;
    std::vector<std::set<std::string>> wanted = stays_of(at, b);
    if (at.fixed.resident.contains(name)) wanted.emplace_back();
    for (std::set<std::string>& along : wanted) {
      Schedule other = at.fixed;
      if (along.empty()) {
        other.resident.erase(name);
      } else {
        other.resident[name] = std::move(along);
      }
      if (other.resident == at.fixed.resident) continue;
      other.order = person_.order;
      if (!person_.slots.contains(name)) {
        Schedule single = other;
        single.slots[name] = 1;
        add_or_halve({single, at.complete}, found);
        if (!at.complete.slots.contains(name) || at.complete.slots.at(name) == 1) continue;
      }
      add_or_halve({other, at.complete}, found);
    }
  }
  return found;
}

std::vector<Schedule> Neighbours::slots_for_all(const Reached& at) const {
  std::vector<Schedule> found;
  const auto moves_once = [](const auto& of_tensor) { return of_tensor.second == 1; };
  if (!std::all_of(at.complete.slots.begin(), at.complete.slots.end(), moves_once)) return found;
  Schedule all = at.fixed;
  for (const std::string& tensor : tensors_with_slots()) all.slots[tensor] = double_buffer_slots;
  const Reached changed{all, at.complete};
  IteratorSizes sizes = sizes_of(at.complete);
  for (const IteratorId i : sizes.ids()) {
    const std::int64_t own = sizes[i];
    if (model_.pinned.contains(i) || person_.buffer.contains(model_.iterators[i].name)) continue;
    for (const std::int64_t tiles : {2, 4, 8}) {
      if (own < tiles) break;
      sizes[i] = ceil_div(own, tiles);
      add_if_fitting(changed, sizes, found);
    }
    sizes[i] = own;
  }
  return found;
}

std::vector<Schedule> Neighbours::stored_while_computed(const Reached& at) const {
  std::vector<Schedule> found;
  const auto moves_once = [](const auto& of_tensor) { return of_tensor.second == 1; };
  if (std::all_of(at.complete.slots.begin(), at.complete.slots.end(), moves_once)) return found;
  Schedule other = at.fixed;
  std::set<IteratorId> moving;
  for (const std::string& tensor : tensors_with_slots()) {
    const auto buffer = std::find_if(model_.buffers.begin(), model_.buffers.end(),
                                     [&](const ModelBuffer& b) { return b.name == tensor; });
    if (buffer->kind != ModelBuffer::Kind::output || at.complete.slots.at(tensor) > 1) continue;
    other.slots[tensor] = double_buffer_slots;
    moving.insert(buffer->moved_by.begin(), buffer->moved_by.end());
  }
  const Reached changed{other, at.complete};
  IteratorSizes sizes = sizes_of(at.complete);
  for (const IteratorId i : moving) {
    const std::int64_t own = sizes[i];
    if (model_.pinned.contains(i) || person_.buffer.contains(model_.iterators[i].name)) continue;
    for (const std::int64_t tiles : {2, 3}) {
      if (own < tiles) break;
      sizes[i] = ceil_div(own, tiles);
      add_if_fitting(changed, sizes, found);
    }
    sizes[i] = own;
  }
  return found;
}

std::vector<Schedule> Neighbours::sharings(const Reached& at) const {
  std::vector<Schedule> found;
  for (const BufferId b : model_.buffers.ids()) {
    const std::string& name = model_.buffers[b].name;
    if (model_.buffers[b].kind != ModelBuffer::Kind::input || person_.sharing.contains(name)) continue;
    const SharedBy widest = widest_sharing(model_, b, *at.complete.parallel, target_);
    if (widest == SharedBy::core) continue;
    Schedule other = at.fixed;
    other.sharing[name] = at.complete.sharing.at(name) == SharedBy::core ? widest : SharedBy::core;
    add_if_fitting({other, at.complete}, sizes_of(at.complete), found);
  }
  return found;
}

}  // namespace stowage
