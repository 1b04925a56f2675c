// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/plan_choices.h"

namespace stowage {

PlanChoice choose_plan(const CanonicalStages& canonical, const Planner& planner, const Target& target) {
  Trace trace;
  PlanChoice choice;
  choice.schedule = planner.choose("group", canonical.stages, target, TraceSink(&trace));
  choice.records = std::move(trace.records);
  return choice;
}

PlanChoice with_original_names(const PlanChoice& choice, const CanonicalStages& canonical, const std::string& subject) {
  const auto original = [&](const std::string& text) { return with_original_names(text, canonical); };
  PlanChoice named = choice;
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
