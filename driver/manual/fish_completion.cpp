// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "completion_text.h"
#include "driver/manual/completions.h"
#include "driver/manual/filled.h"
#include "driver/text/shell_text.h"

namespace stowage {

namespace {

/// In fish's single quotes a backslash has a meaning.
std::string fish_quoted(const std::string& text) {
  std::string doubled;
  for (const char c : text) doubled += c == '\\' ? std::string("\\\\") : std::string(1, c);
  return shell_quoted(doubled);
}

/// " -x -a …" of a value.
std::string value_of(const OptionOutline& option) {
  const ValueHint& hint = option.hint;
  std::vector<std::string> words = hint.names;
  if (hint.files == FileKind::folder) words.emplace_back("(__fish_complete_directories)");
  // These with that ending come first, and the others, too.
  if (hint.files == FileKind::any) {
    words.push_back(hint.ending.empty() ? "(__fish_complete_path)"
                                        : fmt::format("(__fish_complete_suffix {})", hint.ending));
  }
  return words.empty() ? std::string() : " -a " + fish_quoted(fmt::format("{}", fmt::join(words, " ")));
}

/// Options that have a value, so that the words behind them are not counted.
std::string valued(const std::vector<OptionOutline>& options) {
  std::string names;
  for (const OptionOutline& option : options) {
    if (!option.value.empty() && !option.names.empty()) names += fmt::format(" {}", fmt::join(option.names, " "));
  }
  return names;
}

/// A line for each option, offered under a condition, which is empty where they always are.
std::string option_lines(const std::string& program, const std::string& condition,
                         const std::vector<OptionOutline>& options) {
  std::string text;
  int place = 0;
  for (const OptionOutline& option : options) {
    std::string when = condition;
    if (option.names.empty()) {
      when += fmt::format("{}__{}_at {}{}", when.empty() ? "" : "; and ", program, ++place, valued(options));
      if (value_of(option).empty()) continue;
    }
    std::string line = "complete -c " + program;
    if (!when.empty()) line += " -n " + fish_quoted(when);
    for (const std::string& name : option.names) {
      line += name.starts_with("--") ? " -l " + name.substr(2) : (name.size() == 2 ? " -s " : " -o ") + name.substr(1);
    }
    if (!option.value.empty() && !option.names.empty()) line += " -x";
    if (!option.value.empty()) line += value_of(option);
    text += line + " -d " + fish_quoted(option.summary) + "\n";
  }
  return text;
}

}  // namespace

std::string fish_completion(const ProgramOutline& program) {
  const bool has_commands = !program.commands.empty();
  // Where a command has its place, arguments begin behind it; fish counts from 1.
  std::string text =
      filled(completion_text("completion.fish"),
             {{"VERSION", program.version}, {"NAME", program.name}, {"FIRST", has_commands ? "3" : "2"}});
  const std::string first = fmt::format("__{}_first", program.name);
  for (const CommandOutline& command : program.commands) {
    text += fmt::format("complete -c {} -n {} -a {} -d {}\n", program.name, first, command.name,
                        fish_quoted(command.summary));
  }
  text += option_lines(program.name, has_commands ? first : "", program.options);
  for (const CommandOutline& command : program.commands) {
    text += option_lines(program.name, fmt::format("__{}_in {}", program.name, command.name), command.options);
  }
  return text;
}

}  // namespace stowage
