// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/plan_group.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/number_text.h"
#include "lowering/model/group_model.h"
#include "lowering/model/group_trace.h"
#include "lowering/model/merged_axes.h"
#include "lowering/model/sharing.h"
#include "lowering/nest/lower.h"
#include "lowering/search/core_grids.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/time/cycle_limit.h"
#include "lowering/time/dma_alignment.h"

namespace stowage {
namespace {

Planned plan_scheduled(const std::string& name, const GroupModel& model, Scheduled scheduled, const MergedAxes& merged,
                       const Target& target) {
  if (auto* refused = std::get_if<Decision>(&scheduled)) return std::move(*refused);
  Plan plan;
  plan.schedule = std::get<Schedule>(std::move(scheduled));
  plan.schedule.merged = merged;
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
        *fixed.merged, target);
    if (std::holds_alternative<Decision>(planned) || !unaligned_transfers_of(planned, target).empty()) continue;
    group_trace(trace, name, model).add(SplitUnaligned{why});
    for (TraceRecord& record : records.records) trace.add(std::move(record));
    return planned;
  }
  return std::nullopt;
}

/// `complete(stages, trace)` makes the schedule of the stages with the axes merged that `fixed` names. Where one of its
/// transfers is unaligned, another split over the cores is taken; where none helps, the plan is refused, unless nothing
/// but elements narrower than a word are concerned: such an operator is planned all the same, and plan_program warns.
Planned plan_with_alignment(const std::string& name, const StageList& stages, const Schedule& fixed,
                            const Target& target, TraceSink trace,
                            const std::function<Scheduled(const StageList&, TraceSink)>& complete) {
  const auto merging = merge_axes(stages, *fixed.merged);
  if (const auto* refused = std::get_if<Decision>(&merging)) return *refused;
  const StageList& merged = std::get<StageList>(merging);
  const GroupModel model = build_group_model(merged);
  Trace records;
  const TraceSink kept = trace.listening() ? TraceSink(&records) : TraceSink();
  Planned planned = plan_scheduled(name, model, complete(merged, kept), *fixed.merged, target);
  const auto unaligned = unaligned_transfers_of(planned, target);
  if (!unaligned.empty() && !fixed.parallel) {
    if (auto aligned = plan_aligned(name, model, fixed, target, unaligned.front().reason, trace)) {
      return *std::move(aligned);
    }
  }
  for (TraceRecord& record : records.records) trace.add(std::move(record));
  const UnalignedTransfer* wide = find_refused(unaligned);
  if (wide == nullptr) return planned;
  return Decision::refuse("dma-alignment", fmt::format("{}; {} moves multiples of {} bytes ('dma.alignment')",
                                                       wide->reason, target.name, target.dma.alignment));
}

}  // namespace

bool published_is_cheaper(const Planned& merged, const std::string& name, const StageList& stages,
                          const Schedule& fixed, const Target& target) {
  Schedule apart = fixed;
  apart.merged.emplace();
  const Planned published = plan_group(name, stages, apart, SwtvmPlanner(), target, {});
  const auto* const cheaper = std::get_if<Plan>(&published);
  const auto* const plan = std::get_if<Plan>(&merged);
  return cheaper != nullptr && (plan == nullptr || cheaper->time.cycles < plan->time.cycles);
}

Planned plan_group(const std::string& name, const StageList& stages, const Schedule& fixed, const Planner& planner,
                   const Target& target, TraceSink trace) {
  const auto plan_merged = [&](const MergedAxes& axes) {
    Schedule wanted = fixed;
    wanted.merged = axes;
    Trace records;
    Planned planned =
        plan_with_alignment(name, stages, wanted, target, trace.listening() ? TraceSink(&records) : TraceSink(),
                            [&](const StageList& merged, TraceSink sink) {
                              tell_merged_axes(sink, name, merged, axes);
                              return planner.complete(name, merged, wanted, target, sink);
                            });
    return std::pair{std::move(planned), std::move(records)};
  };
  const MergedAxes axes = axes_to_merge(planner, stages, fixed);
  auto [planned, records] = plan_merged(axes);
  const bool by_itself = !fixed.merged && !axes.empty();
  if (by_itself && published_is_cheaper(planned, name, stages, fixed, target)) {
    std::tie(planned, records) = plan_merged({});
  }
  for (TraceRecord& record : records.records) trace.add(std::move(record));
  return std::move(planned);
}

Planned plan_chosen(const std::string& name, const StageList& stages, const Schedule& chosen, const Planner& planner,
                    const Target& target, TraceSink trace) {
  return plan_with_alignment(name, stages, chosen, target, trace, [&](const StageList& merged, TraceSink sink) {
    return planner.complete_chosen(name, merged, chosen, target, sink);
  });
}

}  // namespace stowage
