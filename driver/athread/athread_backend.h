// SPDX-License-Identifier: Apache-2.0
// Athread, the family of the Sunway SW26010: schedules and loop nests (lowering), Athread C (emitter/athread), and its
// emulation on this host (emitter/emulation).
#pragma once

#include <string>
#include <vector>

#include "driver/backend/backend.h"

namespace stowage {

class AthreadBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view family() const override { return athread_family; }
  [[nodiscard]] std::vector<std::string> planner_names() const override;
  [[nodiscard]] std::string default_planner() const override;
  [[nodiscard]] std::string default_layout(const std::string& planner) const override;
  /// Of a planner that is not the published one: the published one. Of the published one: fewer cores.
  [[nodiscard]] std::vector<Alternative> alternatives(const CompiledBy& compiled) const override;
  void read_schedule(TomlTable& table, const std::string& name, FixedSchedules& fixed) const override;
  [[nodiscard]] std::vector<std::string> evaluator_names() const override;
  [[nodiscard]] Result<IdVector<StepId, std::int64_t>> evaluate(const Program& program, const Evaluator& evaluator,
                                                                unsigned threads,
                                                                const WorkContext& work) const override;
  [[nodiscard]] std::unique_ptr<GroupCost> group_cost(const std::string& planner, const Target& target,
                                                      const CostOptions& options) const override;
  [[nodiscard]] PlannedStep plan_group(const Graph& graph, const FusedOperator& group, const FixedSchedule* fixed,
                                       const std::string& planner, const Target& target, const CostOptions& options,
                                       TraceSink trace) const override;
  [[nodiscard]] Result<Program> plan(const FusedGraph& fused, const FixedSchedules& fixed, const std::string& planner,
                                     const Target& target, const CostOptions& options, TraceSink trace,
                                     const WorkContext& work) const override;
  [[nodiscard]] StepWork moved(const StepWork& work, const Graph& graph, const FusedOperator& group,
                               const Target& target) const override;
  [[nodiscard]] Json stored(const StepPlan& plan) const override;
  [[nodiscard]] StepReader step_reader(const Graph& graph, const Target& target) const override;
  [[nodiscard]] EmittedProgram emit(const Program& program, const std::string& signature) const override;
  [[nodiscard]] Result<BackendRun> run(const Program& program, const EmittedProgram& emitted,
                                       std::span<const Tensor> inputs, const RunSettings& settings,
                                       const StepObserver& on_output, const WorkContext& work) const override;
  [[nodiscard]] Result<IdVector<StepId, SimulatedStep>> simulate(const Program& program, DmaOrder order,
                                                                 const WorkContext& work) const override;
  [[nodiscard]] Result<StepTimeline> timeline(const Program& program, StepId step, DmaOrder order,
                                              const WorkContext& work) const override;
};

}  // namespace stowage
