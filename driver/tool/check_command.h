// SPDX-License-Identifier: Apache-2.0
// The command `stowage check`, as commands.h has the others.
#pragma once

#include <string>
#include <vector>

#include "driver/tool/tool_context.h"

namespace stowage {

struct CheckOptions {
  std::string path;                   ///< a folder of compile, or the text of one nest
  std::string op;                     ///< of a folder: one fused operator
  std::string target;                 ///< of a text; empty: sw26010
  std::vector<std::string> settings;  ///< of a text
};
int check_command(const CheckOptions& options, ToolContext& context);

}  // namespace stowage
