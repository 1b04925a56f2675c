// SPDX-License-Identifier: Apache-2.0
// The program of a whole network.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "core/diagnostics.h"
#include "core/id_vector.h"
#include "core/ids.h"
#include "core/progress.h"
#include "core/target.h"
#include "core/trace.h"
#include "fusion/groups/fused_graph.h"
#include "lowering/evaluate/evaluator.h"
#include "lowering/model/planner.h"
#include "lowering/nest/plan.h"
#include "lowering/program/memory_map.h"
#include "lowering/program/program_step.h"
#include "lowering/search/limit_distance.h"
#include "lowering/search/physical_limit.h"

namespace stowage {

class PlanChoices;  // lowering/program/plan_choices.h

struct Program {
  FusedGraph fused;
  Target target;
  std::string fusion;  ///< strategy
  std::string planner;
  std::string layout;  ///< how pictures were to lie between operators (fusion/fold/channel_blocks.h)
  EvaluatedBy evaluated_by = EvaluatedBy::closed_form;  ///< what said the cycles of groups to the strategy
  IdVector<StepId, ProgramStep> steps;                  ///< in execution order
  MemoryMap memory;
  std::int64_t first_launch_cycles = 0;  ///< lowering/program/launches.h; 0 of a program that was read
};

/// The parameter area piece by piece, in order and without gaps, as params.bin has it: constants, which the program
/// holds, and zeros between them.
std::vector<std::span<const std::byte>> parameter_pieces(const Program& program);
std::vector<std::byte> parameter_bytes(const Program& program);  ///< the same in one

/// The highest peak of a program's kernels, and the least room that one of them has: what all of them may take. Of a
/// program without kernels, all that Athread does not reserve.
Scratchpad scratchpad_of(const Program& program);
std::int64_t ldm_for_buffers(const Program& program);  ///< that room

/// The steps of one kind.
struct KindTotals {
  const StepKind* kind = nullptr;  ///< null where a program has no such steps
  std::int64_t steps = 0;
  std::int64_t cycles = 0;  ///< what they take of all
};

/// Sums over a program, for tables and --json.
struct ProgramTotals {
  std::int64_t groups = 0;                                             ///< fused operators, views included
  std::int64_t kernels = 0;                                            ///< fused operators that are launched
  std::int64_t spawns = 0;                                             ///< in which they run
  std::array<KindTotals, std::variant_size_v<StepWork>> by_kind = {};  ///< in the order of StepWork
  std::int64_t operators = 0;
  std::int64_t flops = 0;
  std::int64_t multiply_adds = 0;
  DmaTotals dma;
  std::int64_t ldm_peak_bytes = 0;
  std::int64_t cycles = 0;
  double seconds = 0;
  /// No plans of these fused operators move less, or take less with one launch for all of them
  /// (lowering/search/physical_limit.h). 0 of a program of another family than Athread.
  std::int64_t least_bytes = 0;
  double least_seconds = 0;
  /// Of all kernels, one launch of them in the limit.
  LimitDistance distance = {};

  [[nodiscard]] KindTotals of(const StepKind& kind) const;  ///< 0 steps where there are none
};
ProgramTotals totals_of(const Program& program);

/// Kernels whose planner would have gone on searching (Certificate::Ended::time).
std::int64_t searches_ended_by_time(const Program& program);

/// How far a kernel is from the least that it could take, without a launch.
struct StepLimit {
  PhysicalLimit limit;
  LimitDistance distance;
};
/// Of each step that Athread planned; nothing of the others.
IdVector<StepId, StepLimit> limits_of(const Program& program);

/// Plans every group of a fused graph. The number of threads (0: one a core of this host) changes nothing in the
/// result. Schedules by fused operator's name. Refusals become diagnostics. `choices` holds what is known of this
/// planner and target already, and gets what is found. Where `over` is stopped, a planner that finds more than the
/// costs are of (Planner::for_costs) takes what it has found by then.
Result<Program> plan_program(const FusedGraph& fused, const std::map<std::string, Schedule>& schedules,
                             const Planner& planner, const Target& target, TraceSink trace, Diagnostics& diagnostics,
                             std::stop_token stop = {}, const ProgressSink& progress = {}, unsigned threads = 0,
                             PlanChoices* choices = nullptr, const std::stop_token& over = {});

}  // namespace stowage
