// SPDX-License-Identifier: Apache-2.0
// Whether a program that ran moved what its plans had predicted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emitter/sources/program_run.h"
#include "lowering/program/program.h"

namespace stowage {

/// One figure in which prediction and emulation differ.
struct CountError {
  std::string name;                      ///< fused operator
  std::optional<StatementId> statement;  ///< none: of the whole step
  std::string what;  ///< "transfers", "operations", "bytes", "barriers", "broadcasts", "registers sent", "LDM peak"
  std::int64_t predicted = 0;
  std::int64_t emulated = 0;
};

/// Figures of prediction and emulation that differ, kernel by kernel and statement by statement: StepPlan::transfers(),
/// StepPlan::meetings() and the peak of its scratchpad.
std::vector<CountError> compare_counts(const Program& program, const EmulationResult& emulation);

}  // namespace stowage
