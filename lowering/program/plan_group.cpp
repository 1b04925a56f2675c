// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/plan_group.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/decision_rules.h"
#include "core/number_text.h"
#include "lowering/model/buffer_slots.h"
#include "lowering/model/group_model.h"
#include "lowering/model/group_trace.h"
#include "lowering/model/sharing.h"
#include "lowering/model/stage_form.h"
#include "lowering/nest/lower.h"
#include "lowering/program/improve_plan.h"
#include "lowering/program/nearest_fit.h"
#include "lowering/search/core_grids.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/time/cycle_limit.h"
#include "lowering/time/dma_alignment.h"

namespace stowage {
namespace {

Planned plan_scheduled(const std::string& name, const GroupModel& model, Scheduled scheduled, const StageForm& form,
                       const Target& target) {
  if (auto* refused = std::get_if<Decision>(&scheduled)) return std::move(*refused);
  Plan plan;
  plan.schedule = with_form(std::get<Schedule>(std::move(scheduled)), form);
  Lowered lowered = lower(name, model, plan.schedule, target);
  if (auto* refused = std::get_if<Decision>(&lowered)) return std::move(*refused);
  plan.nest = std::get<LoopNest>(std::move(lowered));
  plan.counts = predict_counts(plan.nest);
  plan.time = estimate_time(plan.nest, plan.counts, target);
  if (plan.time.cycles >= cycle_limit) {
    return Decision::refuse(std::string(cycle_limit_rule),
                            fmt::format("would take {} cycles or more, {} are the most that are counted",
                                        grouped_digits(plan.time.cycles), grouped_digits(cycle_limit - 1)));
  }
  return plan;
}

std::vector<UnalignedTransfer> unaligned_transfers_of(const Planned& planned, const Target& target) {
  const auto* plan = std::get_if<Plan>(&planned);
  return plan == nullptr ? std::vector<UnalignedTransfer>{} : unaligned_transfers(plan->nest, target);
}

/// The cheapest split that leaves all transfers aligned, planned with everything else that is fixed.
std::optional<Planned> plan_aligned(const std::string& name, const GroupModel& model, const Schedule& fixed,
                                    const Target& target, const std::string& why, TraceSink trace) {
  std::vector<CoreGrid> grids = core_grids(model, without_sharing(target));
  grids.resize(std::min(grids.size(), max_tried_splits));
  for (const CoreGrid& grid : grids) {
    Schedule wanted = fixed;
    wanted.parallel = grid.parallel;
    Trace records;
    Planned planned = plan_scheduled(
        name, model, run_algorithms(name, model, wanted, target, TraceSink(&records), SplitBy::alignment),
        form_of(fixed), target);
    if (std::holds_alternative<Decision>(planned) || !unaligned_transfers_of(planned, target).empty()) continue;
    group_trace(trace, name, model).add(SplitUnaligned{why});
    for (TraceRecord& record : records.records) trace.add(std::move(record));
    return planned;
  }
  return std::nullopt;
}

/// `complete(stages, trace)` makes the schedule of the stages in the form that `fixed` gives them. Where one of its
/// transfers is unaligned, another split over the cores is taken; where none helps, the plan is refused, unless nothing
/// but elements narrower than a word are concerned: such an operator is planned all the same, and plan_program warns.
Planned plan_with_alignment(const std::string& name, const StageList& stages, const Schedule& fixed,
                            const Target& target, TraceSink trace,
                            const std::function<Scheduled(const StageList&, TraceSink)>& complete) {
  const auto shaped = in_form(stages, form_of(fixed));
  if (const auto* refused = std::get_if<Decision>(&shaped)) return *refused;
  const StageList& list = std::get<StageList>(shaped);
  const GroupModel model = build_group_model(list, target);
  Trace records;
  const TraceSink kept = trace.listening() ? TraceSink(&records) : TraceSink();
  Planned planned = plan_scheduled(name, model, complete(list, kept), form_of(fixed), target);
  const auto unaligned = unaligned_transfers_of(planned, target);
  if (!unaligned.empty() && !fixed.parallel) {
    if (auto aligned = plan_aligned(name, model, fixed, target, unaligned.front().reason, trace)) {
      return *std::move(aligned);
    }
  }
  for (TraceRecord& record : records.records) trace.add(std::move(record));
  const UnalignedTransfer* wide = find_refused(unaligned);
  if (wide == nullptr) return planned;
  return Decision::refuse(dma_alignment_rule, fmt::format("{}; {} moves multiples of {} bytes ('dma.alignment')",
                                                          wide->reason, target.name, target.dma.alignment));
}

}  // namespace

namespace {

/// Where a person's schedule exceeds the LDM, what instead of it could be planned.
void tell_nearest(Decision& refused, const StageList& stages, const Schedule& wanted, const Target& target) {
  if (refused.rule != ldm_capacity_rule) return;
  std::vector<std::string> changes;
  for (NearestFit& fit : nearest_that_fit(stages, wanted, target)) changes.push_back(std::move(fit.text));
  refused.flip = changes.empty() ? "" : fmt::format("for instance {}", fmt::join(changes, ", or "));
}

}  // namespace

bool takes_less(const Planned& a, const Planned& b) {
  const auto* const less = std::get_if<Plan>(&a);
  const auto* const more = std::get_if<Plan>(&b);
  return less != nullptr && (more == nullptr || less->time.cycles < more->time.cycles);
}

std::int64_t to_beat_in_other_form(const Plan& found) {
  const auto is_deepened = [](const auto& slots) { return slots.second > double_buffer_slots; };
  const auto& slots = found.schedule.slots;
  const std::int64_t cycles = found.time.cycles;
  return std::any_of(slots.begin(), slots.end(), is_deepened) ? cycles + cycles / 20 : cycles;
}

Planned published_plan(const std::string& name, const StageList& stages, const Schedule& fixed, const Target& target) {
  return plan_group(name, stages, with_form(fixed, {}), SwtvmPlanner(), target, {});
}

namespace {

/// What `planner` makes of what planner.for_costs() has planned, with the records of how that came about.
Planned plan_beyond(const std::string& name, const StageList& stages, const Schedule& fixed, const Planner& planner,
                    const Target& target, TraceSink trace, const std::stop_token& over) {
  Trace records;
  Planned planned = plan_group(name, stages, fixed, planner.for_costs(), target, TraceSink(&records));
  if (auto* const before = std::get_if<Plan>(&planned)) {
    ImprovedPlan better = improve_plan(name, stages, fixed, planner, target, *before, over);
    before->certificate = better.certificate;
    if (better.has_other_form) records.records.clear();
    for (TraceRecord& record : better.records) records.records.push_back(std::move(record));
    if (better.schedule) {
      Planned improved = plan_chosen(name, stages, *better.schedule, planner, target, TraceSink(&records));
      if (takes_less(improved, planned)) {
        std::get<Plan>(improved).certificate = better.certificate;
        std::get<Plan>(improved).is_fixed = before->is_fixed;
        planned = std::move(improved);
      }
    }
  }
  for (TraceRecord& record : records.records) trace.add(std::move(record));
  return planned;
}

}  // namespace

Planned plan_group(const std::string& name, const StageList& stages, const Schedule& fixed, const Planner& planner,
                   const Target& target, TraceSink trace, const std::stop_token& over) {
  if (improves(planner)) return plan_beyond(name, stages, fixed, planner, target, trace, over);
  // Of a group of which nothing is fixed as choose_plan() does it, so that both come to the same plan.
  const bool nothing_fixed = fixed == Schedule{};
  const Schedule given = with_launch(fixed, planner, target);
  const auto plan_in = [&](const StageForm& form, std::int64_t to_beat = std::numeric_limits<std::int64_t>::max()) {
    const Schedule wanted = with_form(given, form);
    Trace records;
    Planned planned = plan_with_alignment(
        name, stages, wanted, target, trace.listening() ? TraceSink(&records) : TraceSink(),
        [&](const StageList& list, TraceSink sink) {
          tell_form(sink, name, list, form);
          const std::int64_t beyond = nothing_fixed ? to_beat : std::numeric_limits<std::int64_t>::max();
          const Chosen chosen =
              planner.choose(name, list, nothing_fixed ? Schedule{} : wanted, target, sink, beyond, over);
          // What no split can hold, the published one cannot: its refusal says what is missing.
          if (!nothing_fixed && !chosen.schedule) return SwtvmPlanner().complete(name, list, wanted, target, sink);
          return planner.complete_chosen(name, list, chosen.schedule.value_or(wanted), target, sink);
        });
    leave_out_published(records.records, form);
    return std::pair{std::move(planned), std::move(records)};
  };
  const std::vector<StageForm> forms = forms_to_plan(planner, stages, fixed, target);
  auto best = plan_in(forms.front());
  for (std::size_t f = 1; f < forms.size(); ++f) {
    const auto* const found = std::get_if<Plan>(&best.first);
    auto other = found == nullptr ? plan_in(forms[f]) : plan_in(forms[f], to_beat_in_other_form(*found));
    if (takes_less(other.first, best.first)) best = std::move(other);
  }
  const bool is_changed = std::none_of(forms.begin(), forms.end(), [](const StageForm& f) { return f == StageForm{}; });
  const bool by_itself = !fixed.merged && !fixed.lanes && !fixed.copied && !fixed.folded && !fixed.split && is_changed;
  if (by_itself && takes_less(published_plan(name, stages, given, target), best.first)) {
    best = plan_in({});
  }
  if (auto* const plan = std::get_if<Plan>(&best.first)) plan->is_fixed = !nothing_fixed;
  if (auto* const refused = std::get_if<Decision>(&best.first); refused != nullptr && !nothing_fixed) {
    tell_nearest(*refused, stages, with_form(given, forms.front()), target);
  }
  for (TraceRecord& record : best.second.records) trace.add(std::move(record));
  return std::move(best.first);
}

Planned plan_chosen(const std::string& name, const StageList& stages, const Schedule& chosen, const Planner& planner,
                    const Target& target, TraceSink trace) {
  return plan_with_alignment(name, stages, chosen, target, trace, [&](const StageList& list, TraceSink sink) {
    return planner.complete_chosen(name, list, chosen, target, sink);
  });
}

}  // namespace stowage
