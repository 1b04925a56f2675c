// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/plan_choices.h"

#include <variant>

#include "lowering/model/merged_axes.h"
#include "lowering/program/plan_group.h"

namespace stowage {

namespace {

PlanChoice choose_merged(const CanonicalStages& canonical, const MergedAxes& merged, const Planner& planner,
                         const Target& target) {
  Trace trace;
  PlanChoice choice;
  const StageList stages = std::get<StageList>(merge_axes(canonical.stages, merged));
  tell_merged_axes(TraceSink(&trace), "group", stages, merged);
  choice.schedule = planner.choose("group", stages, target, TraceSink(&trace));
  choice.schedule.merged = merged;
  choice.records = std::move(trace.records);
  return choice;
}

}  // namespace

PlanChoice choose_plan(const CanonicalStages& canonical, const Planner& planner, const Target& target) {
  const MergedAxes merged = axes_to_merge(planner, canonical.stages, {});
  PlanChoice choice = choose_merged(canonical, merged, planner, target);
  if (merged.empty()) return choice;
  const Planned planned = plan_chosen("group", canonical.stages, choice.schedule, planner, target, {});
  const bool costs_more = published_is_cheaper(planned, "group", canonical.stages, {}, target);
  return costs_more ? choose_merged(canonical, {}, planner, target) : choice;
}

PlanChoice with_original_names(const PlanChoice& choice, const CanonicalStages& canonical, const std::string& subject) {
  const auto original = [&](const std::string& text) { return with_original_names(text, canonical); };
  PlanChoice named = choice;
  for (std::vector<std::string>& run : *named.schedule.merged) {
    for (std::string& iterator : run) iterator = original(iterator);
  }
  if (named.schedule.parallel) {
    for (ParallelSplit& split : *named.schedule.parallel) split.iterator = original(split.iterator);
  }
  named.schedule.buffer.clear();
  for (const auto& [iterator, size] : choice.schedule.buffer) named.schedule.buffer[original(iterator)] = size;
  if (named.schedule.order) {
    for (std::string& loop : *named.schedule.order) loop = original(loop);
  }
  named.schedule.dma.clear();
  for (const auto& [tensor, loop] : choice.schedule.dma) named.schedule.dma[original(tensor)] = original(loop);
  named.schedule.slots.clear();
  for (const auto& [tensor, slots] : choice.schedule.slots) named.schedule.slots[original(tensor)] = slots;
  named.schedule.sharing.clear();
  for (const auto& [tensor, shared] : choice.schedule.sharing) named.schedule.sharing[original(tensor)] = shared;
  if (named.records.empty()) return named;
  GroupNames names = *named.records.front().names;  // one for all
  for (std::string& iterator : names.iterators) iterator = original(iterator);
  for (std::string& buffer : names.buffers) buffer = original(buffer);
  const auto shared = std::make_shared<const GroupNames>(std::move(names));
  for (TraceRecord& record : named.records) {
    record.subject = subject;
    record.names = shared;
    auto* const chosen = std::get_if<PlanChosen>(&record.what);
    if (chosen != nullptr && chosen->published) chosen->published->cost = original(chosen->published->cost);
  }
  return named;
}

std::shared_ptr<const PlanChoice> PlanChoices::find(const std::string& canonical_text) const {
  const std::scoped_lock lock(mutex_);
  const auto found = choices_.find(canonical_text);
  return found == choices_.end() ? nullptr : found->second;
}

void PlanChoices::add(const std::string& canonical_text, PlanChoice choice) {
  auto shared = std::make_shared<const PlanChoice>(std::move(choice));
  const std::scoped_lock lock(mutex_);
  choices_.try_emplace(canonical_text, std::move(shared));
}

}  // namespace stowage
