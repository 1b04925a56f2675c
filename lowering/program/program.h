// SPDX-License-Identifier: Apache-2.0
// The program of a whole network.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "core/diagnostics.h"
#include "core/progress.h"
#include "core/target.h"
#include "core/trace.h"
#include "fusion/groups/fused_graph.h"
#include "lowering/model/planner.h"
#include "lowering/nest/plan.h"
#include "lowering/program/memory_map.h"

namespace stowage {

class PlanChoices;  // lowering/program/plan_choices.h

/// Nothing to do: the result lies in another tensor's memory, seen otherwise.
struct ViewStep {};

/// All cores run one kernel.
struct KernelLaunch {
  std::shared_ptr<const Plan> plan;  ///< not null; copies of a program share it
};

/// What a step does. A kind is added here, and the compiler shows who has to know it (HACKING.md).
using StepWork = std::variant<ViewStep, KernelLaunch>;

/// One fused operator of a program with what is done for it.
struct ProgramStep {
  FusedOperator group;
  StepWork work;

  [[nodiscard]] const Plan* plan() const;  ///< of what it launches; null for a view
};

/// A kernel launch of that plan.
StepWork launch_of(Plan plan);

struct Program {
  FusedGraph fused;
  Target target;
  std::string fusion;  ///< strategy
  std::string planner;
  std::vector<ProgramStep> steps;  ///< in execution order
  MemoryMap memory;
};

/// The least that a kernel of a program has: what all of them may take. Of a program without kernels, all that is not
/// reserved.
std::int64_t ldm_for_buffers(const Program& program);

/// Plans every group of a fused graph, on so many threads (0: one a core of this host), on which nothing depends.
/// Schedules by fused operator's name. Refusals become diagnostics. `choices` holds what is known of this planner and
/// target already, and gets what is found.
Result<Program> plan_program(const FusedGraph& fused, const std::map<std::string, Schedule>& schedules,
                             const Planner& planner, const Target& target, TraceSink trace, Diagnostics& diagnostics,
                             std::stop_token stop = {}, const ProgressSink& progress = {}, unsigned threads = 0,
                             PlanChoices* choices = nullptr);

}  // namespace stowage
