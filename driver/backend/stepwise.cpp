// SPDX-License-Identifier: Apache-2.0
#include "driver/backend/stepwise.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "core/index.h"

namespace stowage {
namespace {

const InstructionPlan& instructions_of(const StepPlan& plan) {
  const auto* const of_instructions = dynamic_cast<const InstructionPlan*>(&plan);
  check(of_instructions != nullptr, "a plan of another family");
  return *of_instructions;
}

/// Of a plan's instructions in its file, behind the signature and a line for each tensor.
int first_line_of(const StepPlan& plan) { return 2 + static_cast<int>(plan.memory_tensors().size()); }

/// Each by the statement that its line should be, also where a changed text has lines that the plan has not.
void add_counts(EmulationResult& result, StepId step, const KernelRun& ran, int first_line) {
  for (const auto& [line, moved] : ran.transfers) {
    const StatementId statement(at(std::max(line - first_line, 0)));
    result.counts.push_back({step, statement, moved.transfers, moved.operations, moved.bytes});
  }
}

}  // namespace

std::string InstructionPlan::text() const { return fmt::format("{}\n", fmt::join(instructions, "\n")); }

Numbers StepwiseBackend::chosen(const StepPlan& plan) const { return instructions_of(plan).numbers; }

PlannedStep StepwiseBackend::plan_group(const Graph& graph, const FusedOperator& group, const FixedSchedule* fixed,
                                        const std::string& /*planner*/, const Target& target,
                                        const CostOptions& /*options*/, TraceSink /*trace*/) const {
  if (group.is_view) return StepWork(ViewStep{});
  auto planned = plan_kernel(group_stages(graph, group), fixed != nullptr ? numbers_of(*fixed) : Numbers{}, target);
  if (auto* const refused = std::get_if<Decision>(&planned)) return std::move(*refused);
  auto plan = std::make_shared<const InstructionPlan>(std::get<InstructionPlan>(std::move(planned)));
  return StepWork(KernelLaunch{std::move(plan)});
}

EmittedProgram StepwiseBackend::emit(const Program& program, const std::string& signature) const {
  EmittedProgram emitted;
  for (const StepId s : program.steps.ids()) {
    const StepPlan* const plan = program.steps[s].step_plan();
    emitted.kernel_of_step.push_back(plan != nullptr ? fmt::format("kernel_{}", s.index()) : "");
    if (plan == nullptr) continue;
    EmittedFile file{emitted.kernel_of_step[s] + ".asm", fmt::format("{}{}\n", comment_mark(), signature), {}};
    for (const StageTensorId tensor : plan->memory_tensors()) {
      file.text += tensor_line(tensor, memory_range(program, s, tensor)) + "\n";
    }
    int line = first_line_of(*plan);
    StatementId statement;
    for (const std::string& instruction : instructions_of(*plan).instructions) {
      file.text += instruction + "\n";
      file.origins.push_back({line++, s, statement++});
    }
    emitted.files.push_back(std::move(file));
  }
  return emitted;
}

Result<BackendRun> StepwiseBackend::run(const Program& program, const EmittedProgram& emitted,
                                        std::span<const Tensor> inputs, const RunSettings& settings,
                                        const StepObserver& on_output, const WorkContext& work) const {
  MemoryImage memory(program, inputs);
  const auto values_of = [&](std::span<const TensorId> tensors) {
    std::vector<Tensor> values;
    for (const TensorId tensor : tensors) values.push_back(memory.value(tensor));
    return values;
  };
  EmulationResult result;
  auto file = emitted.files.begin();
  for (const StepId s : program.steps.ids()) {
    if (work.stop.stop_requested()) return Failed{};
    result.ldm_peak_bytes.push_back(0);
    if (const StepPlan* const plan = program.steps[s].step_plan()) {
      check(file != emitted.files.end(), "a kernel without a file");
      try {
        const KernelRun ran = play(file->text, program.target, memory);
        result.ldm_peak_bytes[s] = ran.peak_bytes;
        add_counts(result, s, ran, first_line_of(*plan));
        ++file;
      } catch (const LineFailed& failure) {
        SourceLocation location;
        location.file = file->path;
        location.line = failure.line;
        work.diagnostics.error("emulation-failed", std::move(location), failure.reason);
        return Failed{};
      }
    }
    if (settings.keep_outputs_of_steps && on_output) on_output(s, values_of(stored_by(program.steps[s].group)));
  }
  result.outputs = values_of(program.fused.graph.outputs());
  std::vector<CountError> counts = compare_counts(program, result);
  return BackendRun{std::move(result), std::move(counts)};
}

}  // namespace stowage
