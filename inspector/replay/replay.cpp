// SPDX-License-Identifier: Apache-2.0
#include "inspector/replay/replay.h"

#include <algorithm>

#include "core/trace/of_planner.h"
#include "inspector/replay/fusion_steps.h"
#include "inspector/replay/record_steps.h"
#include "inspector/replay/result_steps.h"
#include "inspector/state/planned_group.h"
#include "lowering/model/ldm_room.h"
#include "lowering/model/planner.h"
#include "lowering/program/program.h"

namespace stowage::inspector {

namespace {

/// Of the published algorithms, not of a search before them.
bool of_planner(const TraceRecord& record) {
  return is_of_planner(record) && algorithm_of(record) != TraceAlgorithm::search;
}

/// The records of a planner for one fused operator: those that were kept, or those of planning it again.
std::vector<TraceRecord> planner_records(const LoadedPlan& plan, const StepFacts& step) {
  const std::string& subject = step.step->group.name;
  std::vector<TraceRecord> records;
  for (const TraceRecord& record : plan.compilation.trace.records) {
    if (record.subject == subject && of_planner(record)) records.push_back(record);
  }
  if (!records.empty()) return records;
  // What a person fixed is not kept: where planning freely gives another schedule, all of it counts as fixed.
  for (const Schedule* fixed : {static_cast<const Schedule*>(nullptr), &step.plan->schedule}) {
    Trace trace;
    const PlannedStep planned = plan_group_of(plan, step.step->group, fixed, plan.program().target, TraceSink(&trace));
    records = std::move(trace.records);
    const auto* work = std::get_if<StepWork>(&planned);
    const auto* launch = work != nullptr ? std::get_if<KernelLaunch>(work) : nullptr;
    const Plan* again = launch != nullptr ? plan_of(launch->plan.get()) : nullptr;
    if (again != nullptr && again->schedule == step.plan->schedule) break;
  }
  return records;
}

bool is_text(const TraceRecord& record) { return std::holds_alternative<TextRecord>(record.what); }

}  // namespace

std::int64_t Replay::max_bytes() const {
  std::int64_t most = capacity;
  for (const ReplayStep& step : steps) most = std::max(most, step.ldm_bytes);
  return most;
}

std::int64_t Replay::shown_bytes() const { return std::min(max_bytes(), capacity + capacity / 3); }

bool keeps_steps(const LoadedPlan& plan, std::optional<StepId> step) {
  const StepFacts* facts = plan.step(step);
  if (facts == nullptr || facts->plan == nullptr) return true;
  const auto& records = plan.compilation.trace.records;
  return std::any_of(records.begin(), records.end(), [&](const TraceRecord& record) {
    return of_planner(record) && record.subject == facts->step->group.name;
  });
}

Replay make_replay(const LoadedPlan& plan, std::optional<StepId> step) {
  Replay replay;
  const StepFacts* facts = plan.step(step);
  if (facts == nullptr) return replay;
  replay.subject = facts->step->group.name;
  replay.steps = fusion_steps(plan, step);
  if (facts->plan == nullptr) return replay;
  const Target& target = plan.program().target;
  replay.capacity = ldm_for_buffers(facts->plan->nest, target);
  replay.alignment = target.ldm.alignment;
  replay.formula = to_text(facts->plan->nest.stages);
  const std::vector<TraceRecord> records = planner_records(plan, *facts);
  StepMaker maker(plan, *facts, replay);
  maker.draw_earlier_steps();
  if (std::any_of(records.begin(), records.end(), is_text)) {
    add_text_steps(maker, records);
  } else {
    add_record_steps(maker, records);
  }
  add_result_steps(maker, records);
  return replay;
}

}  // namespace stowage::inspector
