// SPDX-License-Identifier: Apache-2.0
#include "driver/backend/stepwise.h"

#include <fmt/format.h>

#include "core/check.h"

namespace stowage {

EmittedProgram emit_steps(const Program& program, const std::string& extension, const std::string& comment,
                          const std::function<StepText(StepId step)>& text_of) {
  EmittedProgram emitted;
  for (const StepId s : program.steps.ids()) {
    const bool runs = program.steps[s].step_plan() != nullptr;
    emitted.kernel_of_step.push_back(runs ? fmt::format("kernel_{}", s.index()) : "");
    if (!runs) continue;
    const StepText text = text_of(s);
    EmittedFile file{fmt::format("{}.{}", emitted.kernel_of_step[s], extension), comment + "\n", {}};
    for (const std::string& line : text.heading) file.text += line + "\n";
    StatementId statement;
    for (int number = static_cast<int>(text.heading.size()) + 2; const std::string& line : text.statements) {
      file.text += line + "\n";
      file.origins.push_back({number++, s, statement++});
    }
    emitted.files.push_back(std::move(file));
  }
  return emitted;
}

Result<BackendRun> run_steps(const Program& program, const EmittedProgram& emitted, std::span<const Tensor> inputs,
                             const RunSettings& settings, const StepObserver& on_output, const WorkContext& work,
                             const KernelPlayer& play) {
  MemoryImage memory(program, inputs);
  const auto values_of = [&](std::span<const TensorId> tensors) {
    std::vector<Tensor> values;
    for (const TensorId tensor : tensors) values.push_back(memory.value(tensor));
    return values;
  };
  EmulationResult result;
  auto kernel = emitted.files.begin();
  for (const StepId s : program.steps.ids()) {
    if (work.stop.stop_requested()) return Failed{};
    result.ldm_peak_bytes.push_back(0);
    if (program.steps[s].step_plan() != nullptr) {
      check(kernel != emitted.files.end(), "a kernel without a file");
      const auto ran = play(*kernel++, memory);
      if (!ran) return Failed{};
      result.ldm_peak_bytes[s] = ran->peak_bytes;
      for (const StatementId statement : ran->transfers.ids()) {
        const DmaTotals& moved = ran->transfers[statement];
        if (moved.operations > 0) {
          result.counts.push_back({s, statement, moved.transfers, moved.operations, moved.bytes});
        }
      }
    }
    if (settings.keep_outputs_of_steps && on_output) on_output(s, values_of(stored_by(program.steps[s].group)));
  }
  result.outputs = values_of(program.fused.graph.outputs());
  std::vector<CountError> counts = compare_counts(program, result);
  return BackendRun{std::move(result), std::move(counts)};
}

}  // namespace stowage
