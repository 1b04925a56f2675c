// SPDX-License-Identifier: Apache-2.0
#include "lowering/plan.h"

#include "lowering/group_model.h"
#include "lowering/planner.h"
#include "lowering/planner_searched.h"
#include "lowering/planner_swtvm.h"

namespace stowage {
namespace {

Planned plan_scheduled(const std::string& name, const StageList& stages, Scheduled scheduled, const Target& target) {
  if (auto* refused = std::get_if<Decision>(&scheduled)) return std::move(*refused);
  Plan plan;
  plan.schedule = std::get<Schedule>(std::move(scheduled));
  Lowered lowered = lower(name, stages, plan.schedule, target);
  if (auto* refused = std::get_if<Decision>(&lowered)) return std::move(*refused);
  plan.nest = std::get<LoopNest>(std::move(lowered));
  plan.counts = predict_counts(plan.nest);
  plan.time = estimate_time(plan.nest, plan.counts, target);
  return plan;
}

}  // namespace

const Planner* find_planner(std::string_view name) {
  static const SwtvmPlanner swtvm;  // stateless, both
  static const SearchedPlanner searched;
  for (const Planner* planner : {static_cast<const Planner*>(&swtvm), static_cast<const Planner*>(&searched)}) {
    if (planner->name() == name) return planner;
  }
  return nullptr;
}

std::vector<std::string> planner_names() { return {"swtvm", "searched"}; }

bool is_of_planner(const TraceRecord& record) {
  return record.algorithm.starts_with("alg") || record.algorithm == "parallel" || record.algorithm == "search";
}

std::vector<GroupIterator> group_iterators(const StageList& stages) {
  std::vector<GroupIterator> iterators;
  for (const ModelIterator& iterator : build_group_model(stages).iterators) {
    iterators.push_back({iterator.name, iterator.extent, iterator.spatial});
  }
  return iterators;
}

Planned plan_group(const std::string& name, const StageList& stages, const Schedule& fixed, const Planner& planner,
                   const Target& target, TraceSink trace) {
  return plan_scheduled(name, stages, planner.complete(name, stages, fixed, target, trace), target);
}

Planned plan_chosen(const std::string& name, const StageList& stages, const Schedule& chosen, const Planner& planner,
                    const Target& target, TraceSink trace) {
  return plan_scheduled(name, stages, planner.complete_chosen(name, stages, chosen, target, trace), target);
}

}  // namespace stowage
