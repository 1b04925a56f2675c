// SPDX-License-Identifier: Apache-2.0
// What there is: operators, sample networks, and what of a model is supported.
#include <algorithm>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/onnx/import.h"
#include "core/operators.h"
#include "driver/files/files.h"
#include "driver/json/json.h"
#include "driver/networks/networks.h"
#include "driver/session/session.h"
#include "driver/text/text_table.h"
#include "driver/tool/commands.h"

namespace stowage {
namespace {

int networks_command(ToolContext& context) {
  std::vector<std::vector<std::string>> rows;
  for (const NetworkRow& row : network_table()) rows.push_back({std::string(row.name), std::string(row.summary)});
  return print_rows(context, "network", {"name", "summary"}, rows, "network");
}

}  // namespace

int ops_command(ToolContext& context) {
  std::vector<std::vector<std::string>> rows;
  for (const OperatorRow& row : operator_table()) {
    std::vector<std::string> attributes;
    for (const AttributeRow& attribute : row.attributes) attributes.emplace_back(attribute.name);
    rows.push_back({std::string(row.name), fmt::format("{}", fmt::join(row.operands, ", ")),
                    fmt::format("{}", fmt::join(row.results, ", ")), fmt::format("{}", fmt::join(attributes, ", ")),
                    std::string(row.summary)});
  }
  return print_rows(context, "ops", {"name", "operands", "results", "attributes", "summary"}, rows, "ops");
}

int network_command(const NetworkCommandOptions& options, ToolContext& context) {
  if (options.name.empty()) return networks_command(context);
  Diagnostics diagnostics;
  if (options.output.empty()) {
    return usage_error(context, "network", "the file to write is not given", "add -o MODEL.onnx");
  }
  if (!may_write_file(options.output, options.force, {}, diagnostics)) return failed(context, diagnostics);
  NetworkOptions network;
  network.seed = options.seed;
  network.batch = options.batch;
  if (!write_network(options.name, network, options.output, diagnostics, context.interrupt.token(),
                     options.force ? Existing::replace : Existing::keep)) {
    return failed(context, diagnostics);
  }
  const std::string command =
      fmt::format("stowage network {} --seed {} --batch {}", options.name, options.seed, options.batch);
  std::error_code failure;
  const auto size = std::filesystem::file_size(options.output, failure);
  if (context.json) {
    context.out << dumped(
        Json{{"command", command}, {"network", options.name}, {"model", options.output}, {"bytes", failure ? 0 : size}},
        1);
  } else {
    context.out << fmt::format("stowage {} | {}\n{}: {} bytes\n", stowage_version(), command, options.output,
                               failure ? 0 : size);
  }
  return exit_done;
}

int coverage_command(const CoverageOptions& options, ToolContext& context) {
  Diagnostics diagnostics;
  CompileRequest request;
  request.model = options.model;
  request.import.dimensions = sizes_of(options.dimensions, diagnostics);
  request.bindings = named_values(options.bindings, "--bind", diagnostics);
  if (diagnostics.has_errors()) return failed(context, diagnostics);
  const auto rows = onnx_coverage(options.model, diagnostics);
  if (!rows) return failed(context, diagnostics);
  // The very import that a compilation begins with, so that both refuse the same; it warns again of what was read.
  diagnostics = {};
  Compilation ignored;
  const bool good = static_cast<bool>(import_network(request, ignored, diagnostics, context.interrupt.token()));
  if (!good && !diagnostics.has_errors()) return failed(context, diagnostics);  // stopped
  const auto mistakes = std::count_if(diagnostics.entries().begin(), diagnostics.entries().end(),
                                      [](const Diagnostic& d) { return d.severity == Severity::error; });
  context.err << format_diagnostics(diagnostics);

  std::string command = "stowage coverage " + shell_quoted(options.model);
  for (const std::string& dimension : options.dimensions) command += " --dim " + shell_quoted(dimension);
  for (const std::string& binding : options.bindings) command += " --bind " + shell_quoted(binding);
  if (context.json) {
    Json array = Json::array();
    for (const CoverageRow& row : *rows) {
      Json object = {{"operator", row.operator_name}, {"supported", row.supported}};
      if (!row.supported) object["reason"] = row.reason;
      object["nodes"] = row.nodes;
      array.push_back(std::move(object));
    }
    context.out << dumped(Json{{"command", command},
                               {"model", options.model},
                               {"supported", good},
                               {"operators", array},
                               {"diagnostics", to_json(diagnostics)}},
                          1);
    return good ? exit_done : exit_failed;
  }
  TextTable table({"operator", ">nodes", "supported", "why not"});
  for (const CoverageRow& row : *rows) {
    table.add({row.operator_name, std::to_string(row.nodes.size()), row.supported ? "yes" : "NO", row.reason});
  }
  context.out << fmt::format("stowage {} | {}\n\n", stowage_version(), command) << table.text();
  context.out << (good ? std::string("\nnothing in the network keeps it from being compiled\n")
                       : fmt::format("\nthe network cannot be compiled: {}\n", counted(mistakes, "error")));
  return good ? exit_done : exit_failed;
}

}  // namespace stowage
