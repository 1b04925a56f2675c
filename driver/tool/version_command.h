// SPDX-License-Identifier: Apache-2.0
// `stowage --version`: for people one line, for scripts what they may have to ask before they go on.
#pragma once

#include <string>
#include <vector>

#include "driver/tool/tool_context.h"

namespace stowage {

/// Arguments are --version, and --json where an object is wanted.
int version_command(const std::vector<std::string>& arguments, ToolContext& context);

}  // namespace stowage
