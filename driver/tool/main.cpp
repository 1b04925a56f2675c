// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include <unistd.h>

#include "driver/tool/commands.h"

int main(int argc, char** argv) {
  stowage::Interrupt interrupt;
  stowage::ToolContext context{std::cout, std::cerr, interrupt, ::isatty(STDERR_FILENO) == 1 ? &std::cerr : nullptr};
  return stowage::run_tool({argv + 1, argv + argc}, context);
}
