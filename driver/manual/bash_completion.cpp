// SPDX-License-Identifier: Apache-2.0
// The completion for bash is one function over tables of what the commands take. It counts arguments by their place,
// which asks for knowing which options have a value.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "completion_text.h"
#include "driver/manual/completions.h"
#include "driver/manual/filled.h"
#include "driver/text/shell_text.h"

namespace stowage {

namespace {

std::string row_of_options(const std::string& command, const std::vector<OptionOutline>& options) {
  std::vector<std::string> all;
  std::vector<std::string> valued;
  for (const OptionOutline& option : options) {
    all.insert(all.end(), option.names.begin(), option.names.end());
    if (!option.value.empty()) valued.insert(valued.end(), option.names.begin(), option.names.end());
  }
  return fmt::format("    {})\n      options={} valued={} ;;\n", shell_quoted(command),
                     shell_quoted(fmt::format("{}", fmt::join(all, " "))),
                     shell_quoted(fmt::format("{}", fmt::join(valued, " "))));
}

std::string rows_of_values(const std::string& command, const std::vector<OptionOutline>& options) {
  std::string text;
  int place = 0;
  for (const OptionOutline& option : options) {
    const std::vector<std::string> keys =
        option.names.empty() ? std::vector<std::string>{std::to_string(++place)} : option.names;
    const ValueHint& hint = option.hint;
    if (option.value.empty() || (hint.names.empty() && hint.files == FileKind::none)) continue;
    std::vector<std::string> patterns;
    for (const std::string& key : keys) patterns.push_back(shell_quoted(command + " " + key));
    text += fmt::format("    {})", fmt::join(patterns, " | "));
    if (!hint.names.empty()) text += " names=" + shell_quoted(fmt::format("{}", fmt::join(hint.names, " ")));
    if (hint.files == FileKind::folder) text += " files=folder";
    if (hint.files == FileKind::any) text += " files=" + (hint.ending.empty() ? "any" : shell_quoted(hint.ending));
    text += " ;;\n";
  }
  return text;
}

}  // namespace

std::string bash_completion(const ProgramOutline& program) {
  std::vector<std::string> commands;
  std::string options = row_of_options("", program.options);
  std::string values = rows_of_values("", program.options);
  for (const CommandOutline& command : program.commands) {
    commands.push_back(command.name);
    options += row_of_options(command.name, command.options);
    values += rows_of_values(command.name, command.options);
  }
  return filled(completion_text("completion.bash"),
                {{"OPTIONS", options},
                 {"VALUES", values},
                 {"COMMANDS", shell_quoted(fmt::format("{}", fmt::join(commands, " ")))},
                 {"VERSION", program.version},
                 {"NAME", program.name},
                 {"FIRST", commands.empty() ? "1" : "2"}});
}

}  // namespace stowage
