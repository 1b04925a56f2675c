// SPDX-License-Identifier: Apache-2.0
// The command `stowage sensitivity`, as commands.h has the others.
#pragma once

#include <optional>
#include <string>

#include "driver/batch/sweep_range.h"
#include "driver/tool/tool_context.h"

namespace stowage {

struct SensitivityOptions {
  std::string folder;
  std::string key;
  RangeText range;
  std::string schedule;  ///< file with which the folder was compiled; empty: none
  std::string output;    ///< .html or .csv; empty: nothing is written
  bool force = false;
  unsigned threads = 0;                   ///< that plan; 0: one a core
  std::optional<std::string> cost_cache;  ///< folder, or "none"; else the default one
};
int sensitivity_command(const SensitivityOptions& options, ToolContext& context);

}  // namespace stowage
