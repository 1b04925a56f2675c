// SPDX-License-Identifier: Apache-2.0
#include "driver/manual/manual_page.h"

#include <cctype>

#include <fmt/format.h>

namespace stowage {

namespace {

/// Text as roff reads it: '-' as it is typed, and nothing in front that would be a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\': out += "\\(rs"; break;
      case '-': out += "\\-"; break;
      case '\'': out += "\\(aq"; break;
      case '`': out += "\\(ga"; break;
      case '^': out += "\\(ha"; break;
      case '~': out += "\\(ti"; break;
      case '.': out += out.empty() || out.back() == '\n' ? "\\&." : "."; break;
      default: out += c;
    }
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

std::string capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string heading(const ProgramOutline& program, const std::string& page, const std::string& summary) {
  return fmt::format(
      ".\\\" Written by '{0} man' of {0} {1}.\n.TH {2} 1 \"\" \"{0} {1}\" \"User Commands\"\n"
      ".SH NAME\n{3} \\- {4}\n.SH SYNOPSIS\n",
      program.name, program.version, roff(capitals(page)), roff(page), roff(summary));
}

std::string term_of(const OptionOutline& option) {
  std::string term;
  for (const std::string& name : option.names) term += (term.empty() ? "" : ", ") + bold(name);
  if (!option.value.empty()) term += (term.empty() ? "" : " ") + italic(option.value);
  return term;
}

std::string list_of(const std::string& title, const std::vector<OptionOutline>& options, bool by_place) {
  std::string text;
  for (const OptionOutline& option : options) {
    if (option.names.empty() != by_place) continue;
    if (text.empty()) text = ".SH " + title + "\n";
    text += ".TP\n" + term_of(option) + "\n" + roff(option.summary) + "\n";
    if (!option.range.empty()) text += fmt::format("({})\n", roff(option.range));
    if (option.repeated) text += "(may be given several times)\n";
    if (option.required && !by_place) text += "(must be given)\n";
  }
  return text;
}

std::string examples_of(const std::string& examples) {
  if (examples.empty()) return {};
  return ".SH EXAMPLES\n.nf\n" + roff(examples) + "\n.fi\n";
}

std::string exit_status(const std::vector<ExitCode>& codes) {
  if (codes.empty()) return {};
  std::string text = ".SH EXIT STATUS\n";
  for (const ExitCode& code : codes)
    text += fmt::format(".TP\n{}\n{}\n", bold(std::to_string(code.code)), roff(code.meaning));
  return text;
}

std::string page_name(const ProgramOutline& program, const CommandOutline& command) {
  return program.name + "-" + command.name;
}

ManualPage page_of_program(const ProgramOutline& program) {
  std::string text = heading(program, program.name, program.summary);
  if (program.commands.empty()) {
    text += bold(program.name);
    if (!program.options.empty()) text += " [" + italic("OPTIONS") + "]";
    for (const OptionOutline& option : program.options) {
      if (option.names.empty())
        text += option.required ? " " + italic(option.value) : " [" + italic(option.value) + "]";
    }
    text += "\n" + list_of("ARGUMENTS", program.options, true);
  } else {
    text += fmt::format("{} {} [{}]\n.SH COMMANDS\n", bold(program.name), italic("COMMAND"), italic("OPTIONS"));
    for (const CommandOutline& command : program.commands) {
      text += fmt::format(".TP\n{}\n{}; see\n.BR {} (1)\n", bold(command.name), roff(command.summary),
                          roff(page_name(program, command)));
    }
  }
  return {program.name + ".1", text + list_of("OPTIONS", program.options, false) + exit_status(program.exit_codes) +
                                   examples_of(program.examples)};
}

ManualPage page_of_command(const ProgramOutline& program, const CommandOutline& command) {
  const std::string name = page_name(program, command);
  std::string text = heading(program, name, command.summary) + bold(program.name + " " + command.name) + " [" +
                     italic("OPTIONS") + "]";
  for (const OptionOutline& option : command.options) {
    if (!option.names.empty()) continue;
    text += option.required ? " " + italic(option.value) : " [" + italic(option.value) + "]";
  }
  text += "\n" + list_of("ARGUMENTS", command.options, true) + list_of("OPTIONS", command.options, false) +
          examples_of(command.examples) + exit_status(program.exit_codes) +
          fmt::format(".SH SEE ALSO\n.BR {} (1)\n", roff(program.name));
  return {name + ".1", text};
}

}  // namespace

std::vector<ManualPage> manual_pages(const ProgramOutline& program) {
  std::vector<ManualPage> pages = {page_of_program(program)};
  for (const CommandOutline& command : program.commands) pages.push_back(page_of_command(program, command));
  return pages;
}

}  // namespace stowage
