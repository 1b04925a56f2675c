// SPDX-License-Identifier: Apache-2.0
// The commands `stowage passes` and `stowage pass`, as commands.h has the others.
#pragma once

#include <string>
#include <vector>

#include "driver/tool/tool_context.h"

namespace stowage {

int passes_command(ToolContext& context);

struct PassOptions {
  std::string name;
  std::string file;
  std::string target = "sw26010";
  std::vector<std::string> settings;
  std::string output;  ///< empty: the nest is printed
  bool force = false;
};
int pass_command(const PassOptions& options, ToolContext& context);

}  // namespace stowage
