// SPDX-License-Identifier: Apache-2.0
// Completions of a program's commands, options and values, as scripts for shells. They need the shell itself only.
#pragma once

#include <string>
#include <vector>

#include "driver/manual/outline.h"

namespace stowage {

std::string bash_completion(const ProgramOutline& program);
std::string zsh_completion(const ProgramOutline& program);
std::string fish_completion(const ProgramOutline& program);

struct CompletionRow {
  std::string shell;
  std::string (*write)(const ProgramOutline& program);
};
/// The shells that there are completions for.
std::vector<CompletionRow> completion_table();
}  // namespace stowage
