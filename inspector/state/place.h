// SPDX-License-Identifier: Apache-2.0
// What a person points at: the network, a fused operator, an operator, a buffer, a statement, a line of code. Plain
// indices into one LoadedPlan, so that every pane understands every other's.
#pragma once

#include <cstdint>
#include <optional>

#include "core/ids.h"

namespace stowage::inspector {

/// Absent parts are -1 or nothing. A place is as exact as its last present part, and complete() (state/loaded_plan.h)
/// fills in what follows: the step of an operator, the statement of a line of code.
struct Place {
  int step = -1;  ///< fused operator: index into Program::steps; -1 is the whole network
  int op = -1;    ///< operator: index into the fused graph's operators
  std::optional<BufferId> buffer = std::nullopt;  ///< LDM buffer of the step's nest
  int statement = -1;                             ///< loop, DMA, wait, computation …: Stmt::id in the step's nest
  int file = -1;                                  ///< emitted file: index into EmittedProgram::files
  int line = -1;                                  ///< of that file, from 1
  friend bool operator==(const Place&, const Place&) = default;
};

/// Whether `chosen` is `place` or something inside it: every present part of `place` agrees. The network holds nothing.
inline bool holds(const Place& place, const Place& chosen) {
  const auto agrees = [](int part, int other) { return part < 0 || part == other; };
  return place != Place{} && agrees(place.step, chosen.step) && agrees(place.op, chosen.op) &&
         (!place.buffer || place.buffer == chosen.buffer) && agrees(place.statement, chosen.statement) &&
         agrees(place.file, chosen.file) && agrees(place.line, chosen.line);
}

inline Place network_place() { return {}; }
inline Place step_place(int step) { return {.step = step}; }
inline Place op_place(int step, int op) { return {.step = step, .op = op}; }
inline Place buffer_place(int step, BufferId buffer) { return {.step = step, .buffer = buffer}; }
inline Place statement_place(int step, int statement) { return {.step = step, .statement = statement}; }
inline Place code_place(int step, int file, int line) { return {.step = step, .file = file, .line = line}; }

}  // namespace stowage::inspector
