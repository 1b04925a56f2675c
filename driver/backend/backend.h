// SPDX-License-Identifier: Apache-2.0
// A family of targets: how groups are planned for its machines, what a program becomes and how that is run. A target
// names its family (docs/target.md). All that commands and sessions know of a machine's code goes through here; Athread
// (driver/athread) is the first family.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnostics.h"
#include "core/progress.h"
#include "core/target.h"
#include "core/trace.h"
#include "driver/backend/alternative.h"
#include "driver/backend/count_errors.h"
#include "driver/backend/fixed_schedules.h"
#include "driver/backend/number_keys.h"
#include "driver/backend/simulated_step.h"
#include "driver/backend/step_timeline.h"
#include "driver/json/json_forward.h"
#include "emitter/sources/emitted_program.h"
#include "emitter/sources/program_run.h"
#include "fusion/groups/group_cost.h"
#include "lowering/program/planned_cost.h"
#include "lowering/program/program.h"
#include "lowering/simulate/dma_order.h"

namespace stowage {

class TomlTable;  // core/toml_reader.h

/// A program that ran.
struct BackendRun {
  EmulationResult emulation;
  std::vector<CountError> counts;  ///< compare_counts() of the plans that ran
};

/// Who listens while work goes on, and how it is stopped.
struct WorkContext {
  Diagnostics& diagnostics;
  std::stop_token stop = {};
  ProgressSink progress = {};
};

/// The plan of a sound group from the entries of its step (Backend::stored) and its nest as one text. Threads may call
/// it at once; what equal steps have in common it may find out once. Throws Damage (driver/json/damage.h), or what the
/// JSON library does.
using StepReader = std::function<StepWork(const Json& entries, const std::string& text, const FusedOperator& group)>;

class Backend {
 public:
  virtual ~Backend() = default;
  /// What a target's `family` says.
  [[nodiscard]] virtual std::string_view family() const = 0;
  /// The keys of a target's file that are this family's own, where they are whole numbers (own_number()). Athread's are
  /// the members of Target.
  [[nodiscard]] virtual std::vector<NumberKey> target_keys() const;
  /// Reads a target of this family (TargetFamily). One of which target_keys() say all leaves it as it is.
  virtual void read_target(TomlTable& table, Target& target) const;

  [[nodiscard]] virtual std::vector<std::string> planner_names() const = 0;
  /// The first of them, unless the family says otherwise.
  [[nodiscard]] virtual std::string default_planner() const;
  /// How pictures lie where nothing is asked for (layout_names(), fusion/fold/channel_blocks.h): as ONNX has them.
  [[nodiscard]] virtual std::string default_layout(const std::string& planner) const;
  /// What may say the cycles of a plan where strategies compare groups (CostOptions::evaluator).
  [[nodiscard]] virtual std::vector<std::string> evaluator_names() const;
  /// What the summary of a compilation compares it with. A family that knows nothing leaves it as it is.
  [[nodiscard]] virtual std::vector<Alternative> alternatives(const CompiledBy& compiled) const;
  /// A family whose schedules are numbers says which, and those of a kernel, with which plan_group() by the default
  /// planner plans it again. It leaves read_schedule(), moved(), stored() and step_reader() as they are.
  [[nodiscard]] virtual std::vector<NumberKey> schedule_keys() const;
  [[nodiscard]] virtual Numbers chosen(const StepPlan& plan) const;
  /// Reads one schedule of a file into `fixed`, or reports why it cannot be one.
  virtual void read_schedule(TomlTable& table, const std::string& name, FixedSchedules& fixed) const;

  /// What fusion asks: cycles of a group, planned by itself, or why it is refused. Null for an unknown planner. The
  /// target and what `options` names must outlive it. A family without a quicker way leaves it as it is: plan_group().
  [[nodiscard]] virtual std::unique_ptr<GroupCost> group_cost(const std::string& planner, const Target& target,
                                                              const CostOptions& options) const;
  /// What plan() does for one group of a graph, as in a program where other work of its kind comes before it, or why it
  /// does nothing. `fixed` is null where nothing of it is fixed.
  [[nodiscard]] virtual PlannedStep plan_group(const Graph& graph, const FusedOperator& group,
                                               const FixedSchedule* fixed, const std::string& planner,
                                               const Target& target, const CostOptions& options,
                                               TraceSink trace) const = 0;
  /// Plans every group of a fused graph by one of planner_names(). Groups that are refused, and names in `fixed` that
  /// the fused graph has not, are reported. A family that plans each group for itself leaves it as it is: plan_group()
  /// of one after the other, and plan_memory().
  [[nodiscard]] virtual Result<Program> plan(const FusedGraph& fused, const FixedSchedules& fixed,
                                             const std::string& planner, const Target& target,
                                             const CostOptions& options, TraceSink trace,
                                             const WorkContext& work) const;
  /// Cycles of every step of a program as `evaluator` says them, one of evaluator_names(): 0 of one that launches
  /// nothing. A family with nothing but the closed form leaves it as it is.
  [[nodiscard]] virtual Result<IdVector<StepId, std::int64_t>> evaluate(const Program& program,
                                                                        const Evaluator& evaluator, unsigned threads,
                                                                        const WorkContext& work) const;
  /// What `work` is for the same operators in another graph, where they are `group`; its plan stays what it was.
  [[nodiscard]] virtual StepWork moved(const StepWork& work, const Graph& graph, const FusedOperator& group,
                                       const Target& target) const;

  /// The entries of a step of plan.json that say what it launches (docs/plan-format.md): "schedule", what the planner
  /// chose, and "nest", lines of text that say what runs; those two are read back, and what else the family needs. The
  /// step's `kind` is there already where it is no kernel (StepKind::key).
  [[nodiscard]] virtual Json stored(const StepPlan& plan) const;
  /// Reads the launched steps of a program of `graph` back, both of which must outlive what is returned.
  [[nodiscard]] virtual StepReader step_reader(const Graph& graph, const Target& target) const;

  /// The sources of a program. Those that are no more than its own begin with `signature` as a comment, unless it is
  /// empty; what equal programs share does not.
  [[nodiscard]] virtual EmittedProgram emit(const Program& program, const std::string& signature) const = 0;
  /// Runs sources on this host as the machine would run them, counts, and compares with what the plans predict. A
  /// family that plays its machine in this process derives from StepwiseBackend (driver/backend/stepwise.h).
  /// `inputs` by network input; `on_output` is called for every step in order.
  [[nodiscard]] virtual Result<BackendRun> run(const Program& program, const EmittedProgram& emitted,
                                               std::span<const Tensor> inputs, const RunSettings& settings,
                                               const StepObserver& on_output, const WorkContext& work) const = 0;

  /// Every step of a program in time, event by event; what launches nothing takes none. A family without a simulator
  /// leaves it as it is, which reports that.
  [[nodiscard]] virtual Result<IdVector<StepId, SimulatedStep>> simulate(const Program& program, DmaOrder order,
                                                                         const WorkContext& work) const;
  /// Everything that happens in one step, core by core; empty for one that launches nothing.
  [[nodiscard]] virtual Result<StepTimeline> timeline(const Program& program, StepId step, DmaOrder order,
                                                      const WorkContext& work) const;
};

/// The families that somebody may compile for.
using Backends = std::vector<const Backend*>;

/// Those that this library is built with; they hold no state. Each family's folder depends on this one, so the list
/// stands behind them all, in driver/families/built_in_backends.cpp.
Backends built_in_backends();

/// Null for a family that is not among them.
const Backend* find_backend(const Backends& backends, std::string_view family);
/// For the reader of targets.
std::vector<TargetFamily> families_of(const Backends& backends);
/// Of all families, each name once.
std::vector<std::string> planner_names(const Backends& backends);

}  // namespace stowage
