// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/told_search.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lowering/model/buffer_slots.h"
#include "lowering/model/sharing.h"
#include "lowering/swtvm/read_schedule.h"

namespace stowage {
namespace {

/// Splits that the trace tells one by one.
constexpr std::size_t told_splits = 10;

std::vector<TracedSplit> split_of(const SearchTask& task, const Tried& tried) {
  return traced(task.model, *tried.complete.parallel);
}

void tell_left_out(const SearchTask& task, SplitsLeftOut::Why why, std::size_t count, std::int64_t least_cycles = 0) {
  if (count > 0) task.trace.add(SplitsLeftOut{why, static_cast<std::int64_t>(count), least_cycles});
}

/// The published plan, and the cost that tells most between it and the best.
PlanChosen::Published published_beside(const SearchTask& task, const Tried& published, const Tried& best) {
  PlanChosen::Published beside{split_of(task, published), published.cycles(), "", false, 0};
  const TermChange telling = largest_change(published.time, best.time);
  if (telling.term != nullptr) {
    beside.cost = name_of(telling.term->cost);
    beside.falls = telling.cycles < 0;
    beside.cost_by = std::abs(telling.cycles);
  }
  return beside;
}

void tell_residents(const SearchTask& task, const Tried& chosen) {
  for (const BufferId b : task.model.buffers.ids()) {
    const auto found = chosen.complete.resident.find(task.model.buffers[b].name);
    if (found == chosen.complete.resident.end()) continue;
    InputResident resident{b, {}};
    for (const std::string& name : found->second) {
      resident.along.push_back(task.model.iterator_named(name).value());
    }
    task.trace.add(std::move(resident));
  }
}

}  // namespace

void tell_splits(const SearchTask& task, const TriedPlans& plans, const CoreSplits& splits,
                 const std::optional<Tried>& published, const SplitsLookedAt& looked_at) {
  const GroupTrace& trace = task.trace;
  if (!trace.listening()) return;
  const std::vector<Tried>& planned = splits.planned;
  if (published) trace.add(SplitPlanned{split_of(task, *published), true, false, published->cycles(), 0});
  for (std::size_t s = 0; s < std::min(told_splits, planned.size()); ++s) {
    const Tried& split = planned[s];
    trace.add(SplitPlanned{split_of(task, split), false, split.shares_lines, split.cycles(), split.least_cycles});
  }
  if (planned.size() > told_splits) {
    trace.add(MoreSplitsPlanned{static_cast<std::int64_t>(planned.size() - told_splits), planned[told_splits].cycles(),
                                planned.back().cycles()});
  }
  const LeftUnplanned& left = plans.left_unplanned();
  tell_left_out(task, SplitsLeftOut::Why::given_up, left.given_up, left.least);
  tell_left_out(task, SplitsLeftOut::Why::unaligned, left.unaligned);
  tell_left_out(task, SplitsLeftOut::Why::work_again, looked_at.work_again);
  const std::size_t seen = planned.size() + left.given_up + left.unaligned + looked_at.work_again;
  if (looked_at.count > seen) tell_left_out(task, SplitsLeftOut::Why::unplanned, looked_at.count - seen);
  if (looked_at.count == splits.all.size()) return;
  const auto least = std::min_element(
      splits.all.begin() + static_cast<std::ptrdiff_t>(looked_at.count), splits.all.end(),
      [](const CoreSplit& a, const CoreSplit& b) { return a.grid.least_cycles < b.grid.least_cycles; });
  tell_left_out(task, SplitsLeftOut::Why::too_slow, splits.all.size() - looked_at.count, least->grid.least_cycles);
}

void tell_step(const SearchTask& task, const Tried& from, const Tried& to) {
  const GroupTrace& trace = task.trace;
  if (!trace.listening()) return;
  const GroupModel& model = task.model;
  const bool changes_slots = from.complete.slots != to.complete.slots;
  if (changes_slots) tell_slots(task, from, to);
  PlanImproved improved{split_of(task, to), {}, {}, from.cycles(), to.cycles()};
  for (const IteratorId i : model.iterators.ids()) {
    const std::string& name = model.iterators[i].name;
    const SizeChanged size{IteratorId(i), from.complete.buffer.at(name), to.complete.buffer.at(name)};
    if (size.before != size.after) improved.sizes.push_back(size);
  }
  const auto read = read_schedule(model, to.complete);
  if (from.complete.order != to.complete.order && std::holds_alternative<ReadSchedule>(read)) {
    for (const OuterLoop& loop : std::get<ReadSchedule>(read).order) {
      improved.order.push_back(traced(model, loop));
    }
  }
  if (!changes_slots || !improved.sizes.empty() || !improved.order.empty()) trace.add(std::move(improved));
}

void tell_slots(const SearchTask& task, const Tried& from, const Tried& to) {
  if (!task.trace.listening()) return;
  std::vector<BufferSlots> several;
  bool is_deepened = false;
  for (const BufferId b : task.model.buffers.ids()) {
    const ModelBuffer& buffer = task.model.buffers[b];
    const auto slots = to.complete.slots.find(buffer.name);
    const bool moved = buffer.kind != ModelBuffer::Kind::intermediate;
    if (!moved || slots == to.complete.slots.end() || slots->second == 1) continue;
    several.push_back({b, slots->second});
    is_deepened = is_deepened || slots->second > double_buffer_slots;
  }
  if (is_deepened) {
    task.trace.add(SlotsDeepened{split_of(task, to), std::move(several), from.cycles(), to.cycles()});
    return;
  }
  SlotsTried tried{split_of(task, to), {}, from.cycles(), to.cycles()};
  for (const BufferSlots& each : several) tried.buffers.push_back(each.buffer);
  task.trace.add(std::move(tried));
}

void tell_climbed(const SearchTask& task, const Tried& to, int planned) {
  task.trace.add(NeighboursPlanned{split_of(task, to), planned, to.cycles()});
}

void tell_choice(const SearchTask& task, const TriedPlans& plans, const std::optional<Tried>& published,
                 const Tried& chosen) {
  const GroupTrace& trace = task.trace;
  if (!trace.listening()) return;
  PlanChosen choice{split_of(task, chosen), chosen.cycles(), false, std::nullopt};
  choice.is_published = published && published->complete == chosen.complete;
  if (published && !choice.is_published) choice.published = published_beside(task, *published, chosen);
  trace.add(std::move(choice));
  const IdVector<BufferId, SharedBy> sharing = sharing_by_buffer(task.model, chosen.complete.sharing);
  for (const BufferId b : sharing.ids()) {
    if (sharing[b] != SharedBy::core) trace.add(LoadShared{b, cores_of(sharing[b], chosen.parts(), task.target)});
  }
  tell_residents(task, chosen);
  const Tried& cheapest = *plans.cheapest();
  if (cheapest.cycles() < chosen.cycles()) {
    trace.add(CheaperPlanRefused{split_of(task, cheapest), cheapest.cycles()});
  }
}

}  // namespace stowage
