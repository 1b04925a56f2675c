// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/plan_choices.h"

#include <algorithm>
#include <limits>
#include <variant>

#include "lowering/model/stage_form.h"
#include "lowering/program/improve_plan.h"
#include "lowering/program/plan_group.h"

namespace stowage {

namespace {

PlanChoice choose_in(const StageForm& form, const CanonicalStages& canonical, const Planner& planner,
                     const Target& target, const std::stop_token& over,
                     std::int64_t to_beat = std::numeric_limits<std::int64_t>::max()) {
  Trace trace;
  PlanChoice choice;
  const StageList stages = std::get<StageList>(in_form(canonical.stages, form));
  tell_form(TraceSink(&trace), "group", stages, form);
  Chosen chosen = planner.choose("group", stages, {}, target, TraceSink(&trace), to_beat, over);
  choice.schedule = with_form(with_launch(chosen.schedule.value_or(Schedule{}), planner, target), form);
  choice.records = std::move(trace.records);
  leave_out_published(choice.records, form);
  return choice;
}

PlanChoice best_choice(const CanonicalStages& canonical, const Planner& planner, const Target& target,
                       const std::stop_token& over) {
  const std::vector<StageForm> forms = forms_to_plan(planner, canonical.stages, {}, target);
  PlanChoice best = choose_in(forms.front(), canonical, planner, target, over);
  if (forms.size() == 1 && forms.front() == StageForm{}) return best;
  const auto planned = [&](const PlanChoice& choice) {
    return plan_chosen("group", canonical.stages, choice.schedule, planner, target, {});
  };
  Planned plan = planned(best);
  for (std::size_t f = 1; f < forms.size(); ++f) {
    const auto* const found = std::get_if<Plan>(&plan);
    if (found != nullptr && over.stop_requested()) break;
    PlanChoice other = found == nullptr
                           ? choose_in(forms[f], canonical, planner, target, over)
                           : choose_in(forms[f], canonical, planner, target, over, to_beat_in_other_form(*found));
    Planned of_other = planned(other);
    if (!takes_less(of_other, plan)) continue;
    best = std::move(other);
    plan = std::move(of_other);
  }
  const bool is_changed = std::none_of(forms.begin(), forms.end(), [](const StageForm& f) { return f == StageForm{}; });
  const bool costs_more =
      is_changed &&
      takes_less(published_plan("group", canonical.stages, with_launch({}, planner, target), target), plan);
  return costs_more ? choose_in({}, canonical, planner, target, over) : best;
}

/// Of a planner that begins with the choice of another one.
PlanChoice improved_choice(PlanChoice choice, const CanonicalStages& canonical, const Planner& planner,
                           const Target& target, const std::stop_token& over) {
  const auto planned = [&](const Schedule& schedule) {
    return plan_chosen("group", canonical.stages, schedule, planner, target, {});
  };
  const Planned before = planned(choice.schedule);
  const auto* const plan = std::get_if<Plan>(&before);
  if (plan == nullptr) return choice;
  ImprovedPlan better = improve_plan("group", canonical.stages, {}, planner, target, *plan, over);
  if (better.has_other_form) choice.records.clear();
  for (TraceRecord& record : better.records) choice.records.push_back(std::move(record));
  choice.certificate = better.certificate;
  if (better.schedule && takes_less(planned(*better.schedule), before)) choice.schedule = *std::move(better.schedule);
  return choice;
}

}  // namespace

PlanChoice choose_plan(const CanonicalStages& canonical, const Planner& planner, const Target& target,
                       const std::stop_token& over, const PlanChoice* known) {
  // What another planner is to begin with is looked for to its end: nothing else says what a plan of the group is
  // worth.
  const bool is_known = known != nullptr && !known->cut_short;
  PlanChoice choice = !improves(planner) ? best_choice(canonical, planner, target, over)
                      : is_known         ? *known
                                         : best_choice(canonical, planner.for_costs(), target, {});
  if (improves(planner)) choice = improved_choice(std::move(choice), canonical, planner, target, over);
  const auto& proof = choice.certificate;
  choice.cut_short = over.stop_requested() && (!proof || proof->ended == Certificate::Ended::time);
  return choice;
}

PlanChoice with_original_names(const PlanChoice& choice, const CanonicalStages& canonical, const std::string& subject) {
  const auto original = [&](const std::string& text) { return with_original_names(text, canonical); };
  PlanChoice named = choice;
  for (std::vector<std::string>& run : *named.schedule.merged) {
    for (std::string& iterator : run) iterator = original(iterator);
  }
  named.schedule.lanes->clear();
  for (const auto& [iterator, block] : *choice.schedule.lanes) (*named.schedule.lanes)[original(iterator)] = block;
  named.schedule.copied->clear();
  for (const std::string& input : *choice.schedule.copied) named.schedule.copied->insert(original(input));
  named.schedule.split->clear();
  for (const auto& [iterator, parts] : *choice.schedule.split) (*named.schedule.split)[original(iterator)] = parts;
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
  named.schedule.resident.clear();
  for (const auto& [tensor, iterators] : choice.schedule.resident) {
    std::set<std::string>& along = named.schedule.resident[original(tensor)];
    for (const std::string& iterator : iterators) along.insert(original(iterator));
  }
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

std::shared_ptr<const PlanChoice> PlanChoices::find(const std::string& canonical_text) {
  {
    const std::scoped_lock lock(mutex_);
    const auto found = choices_.find(canonical_text);
    if (found != choices_.end()) return found->second;
  }
  if (!recall_) return nullptr;
  auto known = recall_(canonical_text);
  if (!known) return nullptr;
  add(canonical_text, *std::move(known));
  const std::scoped_lock lock(mutex_);
  return choices_.at(canonical_text);
}

void PlanChoices::add(const std::string& canonical_text, PlanChoice choice) {
  auto shared = std::make_shared<const PlanChoice>(std::move(choice));
  const std::scoped_lock lock(mutex_);
  choices_.try_emplace(canonical_text, std::move(shared));
}

PlanChoices& PlanChoices::for_costs() {
  const std::scoped_lock lock(mutex_);
  if (!for_costs_) for_costs_ = std::make_unique<PlanChoices>();
  return *for_costs_;
}

PlanChoices::All PlanChoices::all() const {
  const std::scoped_lock lock(mutex_);
  return choices_;
}

}  // namespace stowage
