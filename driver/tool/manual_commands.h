// SPDX-License-Identifier: Apache-2.0
// The commands that write what is installed beside the tool, as commands.h has the others.
#pragma once

#include <string>

#include "driver/tool/tool_context.h"

namespace stowage {

struct CompletionsOptions {
  std::string shell;
};
int completions_command(const CompletionsOptions& options, ToolContext& context);

struct ManOptions {
  std::string command;  ///< empty: the tool's own page
};
int man_command(const ManOptions& options, ToolContext& context);

}  // namespace stowage
