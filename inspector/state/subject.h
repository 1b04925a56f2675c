// SPDX-License-Identifier: Apache-2.0
// What a person points at: the network, a fused operator, an operator, a buffer, a statement, a line of code. Plain
// indices into one LoadedPlan, so that every pane understands every other's.
#pragma once

#include <cstdint>
#include <optional>

#include "core/ids.h"

namespace stowage::inspector {

/// A subject is as exact as its last present part, and complete() (state/loaded_plan.h)
/// fills in what follows: the step of an operator, the statement of a line of code.
struct Subject {
  std::optional<StepId> step = std::nullopt;            ///< fused operator; without it, the whole network
  std::optional<OpId> op = std::nullopt;                ///< operator of the fused graph
  std::optional<BufferId> buffer = std::nullopt;        ///< LDM buffer of the step's nest
  std::optional<StatementId> statement = std::nullopt;  ///< loop, DMA, wait, computation … in the step's nest
  std::optional<int> file = std::nullopt;               ///< emitted file: index into EmittedProgram::files
  std::optional<int> line = std::nullopt;               ///< of that file, from 1
  friend bool operator==(const Subject&, const Subject&) = default;
};

/// Whether `chosen` is `subject` or something inside it: every present part of `subject` agrees. The network holds
/// nothing.
inline bool holds(const Subject& subject, const Subject& chosen) {
  const auto agrees = [](const auto& part, const auto& other) { return !part || part == other; };
  return subject != Subject{} && agrees(subject.step, chosen.step) && agrees(subject.op, chosen.op) &&
         agrees(subject.buffer, chosen.buffer) && agrees(subject.statement, chosen.statement) &&
         agrees(subject.file, chosen.file) && agrees(subject.line, chosen.line);
}

inline Subject network_subject() { return {}; }
inline Subject step_subject(std::optional<StepId> step) { return {.step = step}; }
inline Subject op_subject(std::optional<StepId> step, OpId op) { return {.step = step, .op = op}; }
inline Subject buffer_subject(std::optional<StepId> step, BufferId buffer) { return {.step = step, .buffer = buffer}; }
inline Subject statement_subject(std::optional<StepId> step, StatementId statement) {
  return {.step = step, .statement = statement};
}
inline Subject code_subject(std::optional<StepId> step, int file, int line) {
  return {.step = step, .file = file, .line = line};
}

}  // namespace stowage::inspector
