// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/job_messages.h"

#include "driver/batch/stored_result.h"
#include "driver/json/json.h"

namespace stowage {

namespace {

std::string line_of(const Json& json) {
  std::string line = dumped(json);
  line.pop_back();
  return line;
}

/// Names of files and folders need not be UTF-8, as JSON's texts must.
Json bytes_of(const std::string& text) { return std::vector<unsigned char>(text.begin(), text.end()); }

std::string text_of(const Json& bytes) {
  const auto all = bytes.get<std::vector<unsigned char>>();
  return {all.begin(), all.end()};
}

Json whole(const Diagnostic& diagnostic) {
  const SourceLocation& location = diagnostic.location;
  return {{"is_error", diagnostic.severity == Severity::error},
          {"code", diagnostic.code},
          {"file", location.file},
          {"line", location.line},
          {"column", location.column},
          {"end_column", location.end_column},
          {"object", location.object},
          {"message", diagnostic.message},
          {"remedy", diagnostic.remedy},
          {"notes", diagnostic.notes},
          {"source_line", diagnostic.source_line}};
}

Diagnostic whole_diagnostic(const Json& json) {
  Diagnostic diagnostic;
  diagnostic.severity = json.at("is_error").get<bool>() ? Severity::error : Severity::warning;
  json.at("code").get_to(diagnostic.code);
  json.at("file").get_to(diagnostic.location.file);
  json.at("line").get_to(diagnostic.location.line);
  json.at("column").get_to(diagnostic.location.column);
  json.at("end_column").get_to(diagnostic.location.end_column);
  json.at("object").get_to(diagnostic.location.object);
  json.at("message").get_to(diagnostic.message);
  json.at("remedy").get_to(diagnostic.remedy);
  json.at("notes").get_to(diagnostic.notes);
  json.at("source_line").get_to(diagnostic.source_line);
  return diagnostic;
}

}  // namespace

std::string to_line(const WorkerSetup& setup) {
  const JobConditions& conditions = setup.conditions;
  Json json;
  json["folder"] = bytes_of(conditions.folder.string());
  json["jobs"] = conditions.jobs;
  json["cost_cache"] = bytes_of(conditions.cost_cache);
  json["command_line"] = bytes_of(conditions.command_line);
  if (conditions.memory_bytes) json["memory_bytes"] = *conditions.memory_bytes;
  if (conditions.search_seconds) json["search_seconds"] = *conditions.search_seconds;
  json["file"] = bytes_of(setup.file);
  json["text"] = setup.text;
  return line_of(json);
}

WorkerSetup setup_of(const std::string& line) {
  const Json json = Json::parse(line);
  WorkerSetup setup;
  setup.conditions.folder = text_of(json.at("folder"));
  json.at("jobs").get_to(setup.conditions.jobs);
  setup.conditions.cost_cache = text_of(json.at("cost_cache"));
  setup.conditions.command_line = text_of(json.at("command_line"));
  if (json.contains("memory_bytes")) setup.conditions.memory_bytes = json.at("memory_bytes").get<std::int64_t>();
  if (json.contains("search_seconds")) setup.conditions.search_seconds = json.at("search_seconds").get<double>();
  setup.file = text_of(json.at("file"));
  json.at("text").get_to(setup.text);
  return setup;
}

std::string to_line(const JobOrder& order) {
  Json json;
  json["job"] = order.job;
  json["keys"] = order.keys;
  if (order.network) json["replaces_network"] = *order.network == Existing::replace;
  json["replace"] = order.replace;
  return line_of(json);
}

JobOrder order_of(const std::string& line) {
  const Json json = Json::parse(line);
  JobOrder order;
  json.at("job").get_to(order.job);
  json.at("keys").get_to(order.keys);
  if (json.contains("replaces_network")) {
    order.network = json.at("replaces_network").get<bool>() ? Existing::replace : Existing::keep;
  }
  json.at("replace").get_to(order.replace);
  return order;
}

std::string to_line(const JobResult& result) {
  Json json;
  json["result"] = result.json;
  json["diagnostics"] = Json::array();
  for (const Diagnostic& diagnostic : result.diagnostics.entries()) json["diagnostics"].push_back(whole(diagnostic));
  return line_of(json);
}

JobResult result_of_answer(const std::string& line) {
  const Json json = Json::parse(line);
  JobResult result = result_of(json.at("result").get<std::string>()).result;
  result.diagnostics = {};
  for (const Json& diagnostic : json.at("diagnostics")) result.diagnostics.add(whole_diagnostic(diagnostic));
  return result;
}

}  // namespace stowage
