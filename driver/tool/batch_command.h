// SPDX-License-Identifier: Apache-2.0
// The command `stowage batch`, as commands.h has the others.
#pragma once

#include <optional>
#include <string>

#include "driver/batch/baseline.h"
#include "driver/tool/tool_context.h"

namespace stowage {

struct BatchCommandOptions {
  std::string file;
  std::string output;  ///< empty: the file's name without .toml, with "-out"
  bool force = false;
  int jobs = 1;
  std::string only;
  bool dry_run = false;  ///< list the jobs, do nothing
  std::optional<std::string> cost_cache;
  std::string baseline;  ///< results.jsonl of an earlier run, or its folder; empty: none
  double tolerance = usual_tolerance;
  std::string junit;  ///< file; empty: none
};
int batch_command(const BatchCommandOptions& options, ToolContext& context);

}  // namespace stowage
