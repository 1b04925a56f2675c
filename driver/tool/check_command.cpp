// SPDX-License-Identifier: Apache-2.0
// Nests played through, core by core, and what goes wrong in them. A folder's nests are read as they are written,
// whether or not the other commands would take them.
#include "driver/tool/check_command.h"

#include <algorithm>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "driver/checking/checked_nests.h"
#include "driver/files/files.h"
#include "driver/json/json.h"
#include "driver/session/session.h"

namespace stowage {

namespace {

Result<NestTexts> read_texts(const CheckOptions& options, const ToolContext& context, Diagnostics& diagnostics) {
  std::error_code failure;
  if (std::filesystem::is_directory(options.path, failure))
    return read_nest_texts(options.path, options.op, context.backends, diagnostics);
  CompileRequest request;
  request.target = options.target.empty() ? "sw26010" : options.target;
  request.settings = options.settings;
  const auto target = target_of(request, diagnostics);
  const auto text = read_text_file(options.path, diagnostics);
  if (!target || !text) return Failed{};
  return NestTexts{*target, {{"", *text}}};
}

Json to_json(const CheckedNest& made, const Execution& execution) {
  Json json = {{"statement", execution.statement.index()},
               {"core", execution.core},
               {"text", line_of_statement(made, execution.statement)}};
  json["iteration"] = Json::object();
  for (const auto& [variable, value] : execution.iteration) json["iteration"][variable] = value;
  return json;
}

Json to_json(const CheckedNest& made) {
  Json json = {{"name", made.name},
               {"good", made.is_good()},
               {"executions", made.check.executions},
               {"transfers", made.check.transfers},
               {"not_looked_at", made.check.not_looked_at},
               {"complete", made.check.complete}};
  if (made.unproved) json["unproved"] = *made.unproved;
  json["faults"] = Json::array();
  for (const Fault& fault : made.check.faults) {
    Json row = {{"family", name_of(fault.family)}, {"what", fault.what}};
    if (fault.at) row["at"] = to_json(made, *fault.at);
    if (fault.other) row["other"] = to_json(made, *fault.other);
    row["remedy"] = remedy_of(fault.family);
    json["faults"].push_back(std::move(row));
  }
  return json;
}

}  // namespace

int check_command(const CheckOptions& options, ToolContext& context) {
  std::error_code failure;
  const bool is_folder = std::filesystem::is_directory(options.path, failure);
  if (is_folder && !(options.target.empty() && options.settings.empty()))
    return usage_error(context, "check", "a folder has its own target", "leave out --target and --set");
  if (!is_folder && !options.op.empty())
    return usage_error(context, "check",
                       fmt::format("'{}' is no folder, of which --op could name a fused operator", options.path));
  Diagnostics diagnostics;
  const auto texts = read_texts(options, context, diagnostics);
  if (!texts) return failed(context, diagnostics);
  std::vector<CheckedNest> all;
  {
    ProgressLine progress(context);
    const ProgressSink sink = progress.sink();
    for (std::size_t n = 0; n < texts->nests.size(); ++n) {
      if (sink) sink("check", n, texts->nests.size());
      if (context.interrupt.token().stop_requested()) return failed(context, diagnostics);
      auto made = checked(texts->nests[n], texts->target, options.path, diagnostics);
      if (made) all.push_back(*std::move(made));
    }
  }
  if (diagnostics.has_errors()) return failed(context, diagnostics);
  const bool good = std::all_of(all.begin(), all.end(), [](const CheckedNest& made) { return made.is_good(); });
  if (context.json) {
    Json json = {
        {"stowage", stowage_version()}, {"command", "stowage check " + shell_quoted(options.path)}, {"good", good}};
    json["nests"] = Json::array();
    for (const CheckedNest& made : all) json["nests"].push_back(to_json(made));
    context.out << dumped(json, 1);
  } else {
    for (const CheckedNest& made : all) {
      context.out << verdict_text(made);
      for (const Fault& fault : made.check.faults) context.out << fault_text(made, fault);
    }
  }
  return good ? exit_done : exit_failed;
}

}  // namespace stowage
