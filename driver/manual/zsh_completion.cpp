// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/manual/completions.h"
#include "driver/text/shell_text.h"

namespace stowage {

namespace {

/// A text inside of a specification, where these characters would end it.
std::string zsh_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string files_of(const ValueHint& hint) {
  if (hint.files == FileKind::folder) return "_files -/";
  return hint.ending.empty() ? "_files" : fmt::format("_files -g \"*{}\"", hint.ending);
}

/// ":message:action" of a value.
std::string zsh_value_of(const OptionOutline& option) {
  const ValueHint& hint = option.hint;
  const std::string names = fmt::format("({})", fmt::join(hint.names, " "));
  std::string action = " ";
  if (!hint.names.empty() && hint.files != FileKind::none) {
    // In braces, for else it would be given options of the display that it does not know.
    action = fmt::format("{{_alternative {} {}}}", shell_quoted(fmt::format("names:name:{}", names)),
                         shell_quoted("files:file:" + files_of(hint)));
  } else if (!hint.names.empty()) {
    action = names;
  } else if (hint.files != FileKind::none) {
    action = files_of(hint);
  }
  return ":" + zsh_escaped(option.value) + ":" + action;
}

std::string argument_specs(const std::vector<OptionOutline>& options, const std::string& indent) {
  std::string text;
  int place = 0;
  const auto add = [&](const std::string& spec) { text += " \\\n" + indent + shell_quoted(spec); };
  for (const OptionOutline& option : options) {
    if (option.names.empty()) {
      add(fmt::format("{}{}{}", ++place, option.required ? "" : ":", zsh_value_of(option)));
    }
    for (const std::string& name : option.names) {
      std::string spec = option.repeated ? "*" : "";
      if (!option.repeated && option.names.size() > 1) spec = fmt::format("({})", fmt::join(option.names, " "));
      spec += name;
      if (!option.value.empty()) spec += name.starts_with("--") ? "=" : "+";
      spec += "[" + zsh_escaped(option.summary) + "]";
      add(option.value.empty() ? spec : spec + zsh_value_of(option));
    }
  }
  return text;
}

}  // namespace

std::string zsh_completion(const ProgramOutline& program) {
  std::string text =
      fmt::format("#compdef {0}\n# Completion of {0} {1} for zsh, written by the program itself.\n\n_{0}() {{\n",
                  program.name, program.version);
  if (program.commands.empty()) {
    text += "  _arguments -s -S" + argument_specs(program.options, "    ") + "\n";
  } else {
    text += "  local -a commands\n  commands=(\n";
    for (const CommandOutline& command : program.commands) {
      text += "    " + shell_quoted(zsh_escaped(command.name) + ":" + zsh_escaped(command.summary)) + "\n";
    }
    text += "  )\n  if (( CURRENT == 2 )); then\n    _describe -t commands command commands\n    _arguments -S" +
            argument_specs(program.options, "      ") +
            "\n    return\n  fi\n  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n";
    for (const CommandOutline& command : program.commands) {
      text +=
          fmt::format("    {})\n      _arguments -S{} ;;\n", command.name, argument_specs(command.options, "        "));
    }
    text += "  esac\n";
  }
  // Read by compinit the file is the function, which then completes at once; sourced it is registered.
  return text +
         fmt::format("}}\n\nif [ \"$funcstack[1]\" = _{0} ]; then\n  _{0} \"$@\"\nelse\n  compdef _{0} {0}\nfi\n",
                     program.name);
}

}  // namespace stowage
