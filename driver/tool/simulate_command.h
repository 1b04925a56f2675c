// SPDX-License-Identifier: Apache-2.0
// `stowage simulate`: a plan in time.
#pragma once

#include <string>

#include "driver/tool/tool_context.h"

namespace stowage {

struct SimulateOptions {
  std::string folder;
  std::string op;     ///< one fused operator, by name; empty: all
  std::string trace;  ///< file; empty: none
  bool force = false;
  bool emulate = false;              ///< count in emulation too
  std::string dma_order = "shared";  ///< or "queued"
};
int simulate_command(const SimulateOptions& options, ToolContext& context);

}  // namespace stowage
