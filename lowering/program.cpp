// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "core/parallel.h"
#include "lowering/planner.h"

namespace stowage {

Result<Program> plan_program(const FusedGraph& fused, const std::map<std::string, Schedule>& schedules,
                             const Planner& planner, const Target& target, TraceSink trace, Diagnostics& diagnostics,
                             std::stop_token stop, const ProgressSink& progress, unsigned threads) {
  std::vector<std::string> names;
  for (const FusedOperator& group : fused.groups) names.push_back(group.name);
  for (const auto& [name, schedule] : schedules) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      diagnostics.error("unknown-operator", {},
                        fmt::format("a schedule is given for '{}', which is no fused operator", name),
                        suggest_name(name, names));
    }
  }
  Program program;
  program.fused = fused;
  program.target = target;
  program.planner = planner.name();
  std::vector<std::optional<Planned>> plans(fused.groups.size());  // views have none
  std::vector<Trace> traces(fused.groups.size());
  std::mutex reporting;
  std::size_t done = 0;
  if (progress) progress("plan", 0, fused.groups.size());
  parallel_for(fused.groups.size(), threads, stop, [&](std::size_t g) {
    const FusedOperator& group = fused.groups[g];
    if (group.template_name != "view") {
      const auto fixed = schedules.find(group.name);
      plans[g] = plan_group(group.name, group_stages(fused.graph, group),
                            fixed == schedules.end() ? Schedule{} : fixed->second, planner, target,
                            trace.listening() ? TraceSink(&traces[g]) : TraceSink());
    }
    const std::scoped_lock lock(reporting);
    if (progress) progress("plan", ++done, fused.groups.size());
  });
  if (stop.stop_requested()) return Failed{};
  for (std::size_t g = 0; g < fused.groups.size(); ++g) {
    const FusedOperator& group = fused.groups[g];
    ProgramStep step;
    step.group = group;
    for (TraceRecord& record : traces[g].records) trace.add(std::move(record));
    if (plans[g]) {
      Planned planned = *std::move(plans[g]);
      if (const auto* refused = std::get_if<Decision>(&planned)) {
        SourcePlace place;
        place.object = fmt::format("fused operator {}", group.name);
        diagnostics.error(refused->rule, std::move(place), refused->reason,
                          refused->rule == "ldm-capacity" ? "choose a target with more LDM or another fusion" : "");
        continue;
      }
      step.plan = std::get<Plan>(std::move(planned));
      const auto broken = verify(step.plan->nest, target);
      check(!broken, fmt::format("the plan of {} is unsound: {}", group.name, broken.value_or("")));
    }
    program.steps.push_back(std::move(step));
  }
  if (diagnostics.has_errors()) return Failed{};
  program.memory = plan_memory(fused, program.steps, target.dram_line_bytes);
  return program;
}

}  // namespace stowage
