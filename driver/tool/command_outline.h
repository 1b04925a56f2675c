// SPDX-License-Identifier: Apache-2.0
// How each command is declared to CLI11, and what was declared as plain data: help, manual pages and completions all
// come from the same declarations.
#pragma once

#include <memory>
#include <string>

#include "driver/manual/outline.h"
#include "driver/tool/command_table.h"

namespace stowage {

/// A command with its options, which are set in `options` when it parses.
std::unique_ptr<CLI::App> declared(const CommandRow& row, Options& options);

ProgramOutline outline_of_tool();

}  // namespace stowage
