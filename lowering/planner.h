// SPDX-License-Identifier: Apache-2.0
// Planners complete schedules; lower() turns a complete schedule into a loop nest.
#pragma once

#include <map>
#include <span>
#include <stop_token>
#include <string_view>
#include <variant>

#include "core/progress.h"
#include "core/target.h"
#include "core/trace.h"
#include "fusion/group_cost.h"
#include "lowering/plan.h"

namespace stowage {

/// A schedule, or why there is none (rule and numbers; for LDM the binding buffer and what it needs).
using Scheduled = std::variant<Schedule, Decision>;
using Lowered = std::variant<LoopNest, Decision>;
using Planned = std::variant<Plan, Decision>;

class PlanChoices;  // lowering/plan_choices.h
struct GroupModel;  // lowering/group_model.h

class Planner {
 public:
  virtual ~Planner() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Fills what `fixed` leaves out, or says which constraint cannot hold.
  /// `subject` names the fused operator in the trace.
  [[nodiscard]] virtual Scheduled complete(const std::string& subject, const StageList& stages, const Schedule& fixed,
                                           const Target& target, TraceSink trace) const = 0;

  /// complete() of a group of which nothing is fixed, in two halves, of which the first may take long: what the planner
  /// fixes by itself before it fills the rest. Equal groups have equal choices, names apart.
  [[nodiscard]] virtual Schedule choose(const std::string& /*subject*/, const StageList& /*stages*/,
                                        const Target& /*target*/, TraceSink /*trace*/) const {
    return {};
  }
  [[nodiscard]] virtual Scheduled complete_chosen(const std::string& subject, const StageList& stages,
                                                  const Schedule& chosen, const Target& target, TraceSink trace) const {
    return complete(subject, stages, chosen, target, trace);
  }
};

/// "swtvm", "searched". Nullptr for an unknown name.
const Planner* find_planner(std::string_view name);
std::vector<std::string> planner_names();

/// Whether a planner has left a record: of the algorithms, the split over the cores, or a search for it.
bool is_of_planner(const TraceRecord& record);

/// The loop nest of a complete schedule. Pure: the same input gives the same nest.
Lowered lower(const std::string& name, const StageList& stages, const Schedule& schedule, const Target& target);

/// The same from the model of the stages, where that is at hand.
Lowered lower(const std::string& name, const GroupModel& model, const Schedule& schedule, const Target& target);

/// Completes, lowers, counts and times one group.
Planned plan_group(const std::string& name, const StageList& stages, const Schedule& fixed, const Planner& planner,
                   const Target& target, TraceSink trace);

/// The same of a group of which nothing is fixed, from what its planner has chosen for it.
Planned plan_chosen(const std::string& name, const StageList& stages, const Schedule& chosen, const Planner& planner,
                    const Target& target, TraceSink trace);

/// Iterators of a group as schedules name them, spatial ones first, with their ranges.
struct GroupIterator {
  std::string name;
  std::int64_t extent = 1;
  bool spatial = true;
};
std::vector<GroupIterator> group_iterators(const StageList& stages);

/// Static map of main memory: parameters in one area, activations in another with lifetimes, views sharing. What the
/// planned steps neither read nor write is not in memory, unless it is an input or output of the network.
MemoryMap plan_memory(const FusedGraph& fused, std::span<const ProgramStep> steps, int line_bytes);

/// Plans every group of a fused graph, on so many threads (0: one a core of this host), on which nothing depends.
/// Schedules by fused operator's name. Refusals become diagnostics. `choices` holds what is known of this planner and
/// target already, and gets what is found.
Result<Program> plan_program(const FusedGraph& fused, const std::map<std::string, Schedule>& schedules,
                             const Planner& planner, const Target& target, TraceSink trace, Diagnostics& diagnostics,
                             std::stop_token stop = {}, const ProgressSink& progress = {}, unsigned threads = 0,
                             PlanChoices* choices = nullptr);

/// Broken promises of a nest (bounds, LDM size, races between cores, waits), or nothing.
std::optional<std::string> verify(const LoopNest& nest, const Target& target);

/// Runs a nest point by point; `inputs` by StageList tensor index. Returns every tensor of the list that was written,
/// intermediates assembled from LDM included (elements never computed are NaN or 0).
std::map<int, Tensor> interpret(const LoopNest& nest, const std::map<int, Tensor>& inputs);

}  // namespace stowage
