// SPDX-License-Identifier: Apache-2.0
// Arguments become the options of one command, which is run.
#include <algorithm>
#include <charconv>
#include <limits>
#include <ostream>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "core/out_of_memory.h"
#include "driver/batch/job_process.h"
#include "driver/session/session.h"
#include "driver/tool/command_outline.h"
#include "driver/tool/terminal_stream.h"
#include "driver/tool/version_command.h"

namespace stowage {

namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// What CLI11 found wrong, with a suggestion where a name is misspelt.
int parse_failure(const ToolContext& context, const CLI::App& app, const std::string& command,
                  const CLI::ParseError& failure) {
  if (dynamic_cast<const CLI::ExtrasError*>(&failure) != nullptr) {
    for (const std::string& extra : app.remaining()) {
      const std::string name = extra.substr(0, extra.find('='));
      if (name.starts_with("-")) {
        return usage_error(context, command, fmt::format("unknown option '{}'", name),
                           suggest_name(name, option_names(app)));
      }
      return usage_error(context, command, fmt::format("'{}' was not expected", extra), {});
    }
  }
  std::string message = failure.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  // "--why-not excludes --op" and "--force requires -o", as a person says it.
  if (dynamic_cast<const CLI::ExcludesError*>(&failure) != nullptr) {
    message.replace(message.find(" excludes "), 10, " does not go with ");
  } else if (const auto at = message.find(" requires ");
             dynamic_cast<const CLI::RequiresError*>(&failure) != nullptr && at != std::string::npos) {
    message.replace(at, 10, " has no meaning without ");
  }
  return usage_error(context, command, message, {});
}

/// "0 done, 1 failed, …" in lines of at most 100 characters.
std::string exit_code_lines(const ProgramOutline& program) {
  std::string text = "Exit codes:";
  std::size_t width = text.size();
  for (const ExitCode& code : program.exit_codes) {
    const std::string word =
        fmt::format("{} {}{}", code.code, code.meaning, &code == &program.exit_codes.back() ? "." : ",");
    const bool fits = width + 1 + word.size() <= 100;
    text += (fits ? " " : "\n") + word;
    width = (fits ? width + 1 : 0) + word.size();
  }
  return text;
}

std::string overview() {
  const ProgramOutline program = outline_of_tool();
  std::string text = fmt::format("stowage {}: {}\n\nUsage: stowage COMMAND [OPTIONS]\n\nCommands:\n", program.version,
                                 program.summary);
  for (const CommandOutline& command : program.commands) {
    text += fmt::format("  {:<13}{}\n", command.name, command.summary);
  }
  text += "\nWithout a command:\n";
  for (const OptionOutline& option : program.options) {
    text += fmt::format("  {:<13}{}\n", fmt::format("{}", fmt::join(option.names, ", ")), option.summary);
  }
  return text + fmt::format("\nEvery command has --help with examples.\n{}\n\nExamples:\n{}\n",
                            exit_code_lines(program), program.examples);
}

/// What a command was given to work on.
SourceLocation input_of(const CLI::App& app) {
  SourceLocation location;
  for (const CLI::Option* option : app.get_options()) {
    if (location.file.empty() && option->get_positional() && option->count() > 0)
      location.file = option->results().front();
  }
  return location;
}

int run_row(const CommandRow& row, std::vector<std::string> arguments, ToolContext& context) {
  Options options;
  const std::unique_ptr<CLI::App> app = declared(row, options);
  context.json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();  // of usage errors, too
  std::reverse(arguments.begin(), arguments.end());                                           // as CLI11 wants them
  try {
    app->parse(arguments);
  } catch (const CLI::CallForHelp&) {
    context.out << app->help();
    return exit_done;
  } catch (const CLI::ParseError& failure) {
    return parse_failure(context, *app, row.name, failure);
  }
  // An empty name, "-o ''" of an unset variable, would be as if the option were not there.
  for (const CLI::Option* option : app->get_options()) {
    const auto& values = option->results();
    if (option->get_type_size() == 0 || std::find(values.begin(), values.end(), "") == values.end()) continue;
    return usage_error(context, row.name, fmt::format("the value of {} is empty", option->get_name()));
  }
  context.json = options.json;
  try {
    return row.run(options, context);
  } catch (const std::exception& fault) {
    Diagnostics diagnostics;
    if (!report_out_of_memory(fault, input_of(*app), diagnostics)) throw;
    return failed(context, diagnostics);
  }
}

bool is_version(const std::vector<std::string>& arguments) {
  return arguments[0] == "--version" ||
         (arguments.size() > 1 && arguments[0] == "--json" && arguments[1] == "--version");
}

int dispatch(const std::vector<std::string>& arguments, ToolContext& context) {
  if (arguments.empty()) {
    context.err << overview();
    return exit_usage;
  }
  const std::string& first = arguments.front();
  if (first == "help" && arguments.size() > 1) {
    return dispatch({arguments[1], "--help"}, context);
  }
  if (first == "--help" || first == "-h" || first == "help") {
    context.out << overview();
    return exit_done;
  }
  if (first == job_worker_command && arguments.size() == 1) return batch_worker(context);
  if (is_version(arguments)) return version_command(arguments, context);
  std::vector<std::string> names;
  for (const CommandRow& row : command_table()) {
    if (first == row.name) return run_row(row, {arguments.begin() + 1, arguments.end()}, context);
    names.emplace_back(row.name);
  }
  if (first.starts_with("-")) {
    return usage_error(context, "", fmt::format("unknown option '{}'", first),
                       suggest_name(first, std::vector<std::string>{"--help", "--version", "--json"}));
  }
  return usage_error(context, "", fmt::format("unknown command '{}'", first), suggest_name(first, names));
}

}  // namespace

int run_tool(const std::vector<std::string>& arguments, ToolContext& outer) {
  TerminalStream out(outer.out);
  TerminalStream err(outer.err);
  ToolContext context{out, err, outer.interrupt, outer.terminal, outer.json, outer.backends, outer.program};
  try {
    const int code = dispatch(arguments, context);
    out.flush();
    if (out.error() == 0) return code;
    err << fmt::format("error: standard output cannot be written: {}\n", std::generic_category().message(out.error()));
    return code == exit_done ? exit_failed : code;
  } catch (const std::exception& fault) {
    context.err << fmt::format(
        "stowage: internal error: {}\nThis is a fault of Stowage; please report it together "
        "with the command line.\n",
        fault.what());
    return exit_fault;
  }
}

}  // namespace stowage
