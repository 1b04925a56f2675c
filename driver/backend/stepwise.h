// SPDX-License-Identifier: Apache-2.0
// For a family whose programs are texts of instructions, a file for each kernel, and whose machine is played in this
// process: all of a Backend but how a kernel is planned and what its instructions do.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "driver/backend/backend.h"
#include "lowering/program/memory_image.h"

namespace stowage {

/// A kernel of such a family: its instructions, each a statement and a line, with what follows from them.
struct InstructionPlan final : StepPlan {
  StageList list;
  std::vector<std::string> instructions;  ///< by StatementId
  std::map<StatementId, DmaTotals> moved;
  std::int64_t cycle_count = 0;
  Scratchpad used;
  Numbers numbers;  ///< by which it is planned again (Backend::schedule_keys)

  explicit InstructionPlan(StageList stages) : list(std::move(stages)) {}
  [[nodiscard]] const StageList& stages() const override { return list; }
  [[nodiscard]] std::int64_t cycles() const override { return cycle_count; }
  [[nodiscard]] std::map<StatementId, DmaTotals> transfers() const override { return moved; }
  [[nodiscard]] Scratchpad scratchpad(const Target& /*target*/) const override { return used; }
  [[nodiscard]] std::string text() const override;
};

/// What one kernel did.
struct KernelRun {
  std::map<int, DmaTotals> transfers;  ///< by line of its file
  std::int64_t peak_bytes = 0;         ///< of its scratchpad
};

/// Thrown by a machine that is played: what a line of the kernel's file says cannot be done.
struct LineFailed {
  int line = 0;
  std::string reason;
};

class StepwiseBackend : public Backend {
 public:
  [[nodiscard]] Numbers chosen(const StepPlan& plan) const override;
  /// By plan_kernel(), whichever planner it is; views are left where they lie.
  [[nodiscard]] PlannedStep plan_group(const Graph& graph, const FusedOperator& group, const FixedSchedule* fixed,
                                       const std::string& planner, const Target& target, const CostOptions& options,
                                       TraceSink trace) const override;
  /// Files "kernel_3.asm".
  [[nodiscard]] EmittedProgram emit(const Program& program, const std::string& signature) const override;
  /// Step by step.
  [[nodiscard]] Result<BackendRun> run(const Program& program, const EmittedProgram& emitted,
                                       std::span<const Tensor> inputs, const RunSettings& settings,
                                       const StepObserver& on_output, const WorkContext& work) const override;

 private:
  /// What begins a line that is a comment.
  [[nodiscard]] virtual std::string_view comment_mark() const { return "; "; }
  /// The line, before the instructions, that tells them where a tensor lies.
  [[nodiscard]] virtual std::string tensor_line(StageTensorId tensor, const MemoryRange& range) const = 0;
  /// `fixed` has every one of schedule_keys(), or nothing where all is the planner's to choose.
  [[nodiscard]] virtual std::variant<InstructionPlan, Decision> plan_kernel(StageList stages, const Numbers& fixed,
                                                                            const Target& target) const = 0;
  /// Plays the text of a file, of which alone it knows what to do; throws LineFailed.
  [[nodiscard]] virtual KernelRun play(const std::string& text, const Target& target, MemoryImage& memory) const = 0;
};

}  // namespace stowage
