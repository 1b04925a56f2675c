// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include <unistd.h>

#include "driver/tool/commands.h"

int main(int argc, char** argv) {
  stowage::Interrupt interrupt;
  stowage::ToolContext context{.out = std::cout,
                               .err = std::cerr,
                               .interrupt = interrupt,
                               .terminal = ::isatty(STDERR_FILENO) == 1 ? &std::cerr : nullptr,
                               .program = "/proc/self/exe"};  // also where the file was replaced since
  return stowage::run_tool({argv + 1, argv + argc}, context);
}
