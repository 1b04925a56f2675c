// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/command_outline.h"

#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "driver/session/session.h"
#include "driver/tool/option_values.h"

namespace stowage {

namespace {

/// Help without which option goes with which: a wrong combination is answered when it is tried.
class PlainHelp : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_type_size() != 0 && !option->get_type_name().empty()) text += " " + option->get_type_name();
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
    if (option->get_required()) text += " REQUIRED";
    return text;
  }
};

OptionOutline outline_of(CLI::Option& option) {
  OptionOutline outline{.required = option.get_required(),
                        .repeated = option.get_expected_max() == CLI::detail::expected_max_vector_size,
                        .summary = option.get_description()};
  for (const std::string& name : option.get_snames()) outline.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) outline.names.push_back("--" + name);
  if (option.get_type_size() == 0) return outline;
  outline.hint = hint_of(option);
  // "N:INT in [0 - 4096]"
  const std::string type = option.get_type_name();
  const auto colon = std::min(type.find(':'), type.size());
  outline.value = option.get_positional() ? option.get_name() : type.substr(0, colon);
  outline.range = type.substr(std::min(colon + 1, type.size()));
  return outline;
}

}  // namespace

std::unique_ptr<CLI::App> declared(const CommandRow& row, Options& options) {
  auto app = std::make_unique<CLI::App>(fmt::format("stowage {}: {}", row.name, row.summary),
                                        fmt::format("stowage {}", row.name));
  app->set_help_flag("-h,--help", "print this");
  row.declare(*app, options);
  app->add_flag("--json", options.json, "print one JSON object to standard output");
  app->footer(fmt::format("Examples:\n{}", row.examples));
  app->formatter(std::make_shared<PlainHelp>());
  app->get_formatter()->column_width(28);
  return app;
}

ProgramOutline outline_of_tool() {
  ProgramOutline program{.name = "stowage",
                         .version = std::string(stowage_version()),
                         .summary = "plans of data movement for processors with scratchpads"};
  program.examples =
      "  stowage network lenet -o lenet.onnx\n"
      "  stowage compile lenet.onnx -o lenet\n"
      "  stowage run lenet --check\n"
      "  stowage explain lenet --op pool1 --steps";
  program.exit_codes = {{exit_done, "done"},
                        {exit_failed, "failed with diagnostics"},
                        {exit_usage, "usage"},
                        {exit_fault, "a fault of Stowage"},
                        {exit_regressed, "worse than a baseline"},
                        {exit_interrupted, "interrupted"}};
  program.options = {{.names = {"-h", "--help"}, .summary = "print the commands"},
                     {.names = {"--version"}, .summary = "print the version"},
                     {.names = {"--json"}, .summary = "with --version or any command: print one JSON object"}};
  for (const CommandRow& row : command_table()) {
    Options options;
    const auto app = declared(row, options);
    CommandOutline command{row.name, row.summary, row.examples, {}};
    for (CLI::Option* option : app->get_options()) command.options.push_back(outline_of(*option));
    program.commands.push_back(std::move(command));
  }
  return program;
}

}  // namespace stowage
