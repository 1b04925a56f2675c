// SPDX-License-Identifier: Apache-2.0
// For a family whose programs are texts of instructions, a file for each kernel, and whose machine is played in this
// process: all of Backend::emit() and Backend::run() but what the instructions are and do.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "driver/backend/backend.h"
#include "lowering/program/memory_image.h"

namespace stowage {

/// The text of one step's kernel, by lines.
struct StepText {
  std::vector<std::string> heading;     ///< what is said before its statements
  std::vector<std::string> statements;  ///< of its plan, by StatementId
};

/// Files "kernel_3.EXTENSION", each with `comment` as its first line. `text_of` is asked for every step that has a
/// plan.
EmittedProgram emit_steps(const Program& program, const std::string& extension, const std::string& comment,
                          const std::function<StepText(StepId step)>& text_of);

/// What one kernel did.
struct KernelRun {
  IdVector<StatementId, DmaTotals> transfers;  ///< by statement; 0 of one that transfers nothing
  std::int64_t peak_bytes = 0;                 ///< of its scratchpad
};
/// Plays one kernel, or reports why it cannot run.
using KernelPlayer = std::function<Result<KernelRun>(const EmittedFile& kernel, MemoryImage& memory)>;

/// Runs what emit_steps() has made, step by step.
Result<BackendRun> run_steps(const Program& program, const EmittedProgram& emitted, std::span<const Tensor> inputs,
                             const RunSettings& settings, const StepObserver& on_output, const WorkContext& work,
                             const KernelPlayer& play);

}  // namespace stowage
