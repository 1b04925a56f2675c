// SPDX-License-Identifier: Apache-2.0
// The command `stowage exercise`, as commands.h has the others.
#pragma once

#include <cstdint>
#include <string>

#include "driver/tool/tool_context.h"

namespace stowage {

struct ExerciseOptions {
  int number = 0;      ///< 0: all as a list
  std::string output;  ///< folder; empty: the current one
  std::uint64_t seed = 1;
  std::string solve;  ///< "FAMILY:STATEMENT" or "FAMILY"; empty: the exercise is written
  bool force = false;
};
int exercise_command(const ExerciseOptions& options, ToolContext& context);

}  // namespace stowage
