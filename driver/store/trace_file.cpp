// SPDX-License-Identifier: Apache-2.0
#include "driver/store/trace_file.h"

#include <charconv>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "driver/json/json_rows.h"
#include "driver/store/fusion_file.h"

namespace stowage {

namespace {

constexpr std::string_view trace_format = "stowage-trace";
constexpr int trace_version = 2;  // 2: with the record of the fusion

std::string_view name_of(TraceOutcome outcome) {
  switch (outcome) {
    case TraceOutcome::step: return "step";
    case TraceOutcome::accepted: return "accepted";
    case TraceOutcome::refused: return "refused";
  }
  fail_check("unknown trace outcome");
}

TraceOutcome outcome_of(const std::string& name) {
  for (const TraceOutcome outcome : {TraceOutcome::step, TraceOutcome::accepted, TraceOutcome::refused}) {
    if (name == name_of(outcome)) return outcome;
  }
  throw std::invalid_argument(fmt::format("'{}' is no outcome of a step", name));
}

Json row_of(const TraceRecord& record) {
  return {{"algorithm", record.algorithm},      {"subject", record.subject}, {"place", record.place},
          {"outcome", name_of(record.outcome)}, {"message", record.message}, {"values", record.values}};
}

/// The state after a step of algorithms 1 and 2 has numbers, which its readers count with.
void check_numbers(const TraceRecord& record) {
  for (const auto& [name, value] : record.values) {
    const bool is_size = record.algorithm == "alg1" && name.starts_with("buffer ");
    const bool is_count = (record.algorithm == "alg1" && name == "ldm bytes") ||
                          (record.algorithm == "alg2" && (name == "transfers" || name.starts_with("transfers ") ||
                                                          name.starts_with("computations ")));
    if (!is_size && !is_count) continue;
    std::int64_t number = -1;
    const char* const end = value.data() + value.size();
    const auto [stopped, error] = std::from_chars(value.data(), end, number);
    if (error == std::errc() && stopped == end && number >= (is_size ? 1 : 0) && number <= max_cycles) continue;
    throw std::invalid_argument(
        fmt::format("'{}' of a step of '{}' is {}, and no count", name, record.subject, Json(value).dump()));
  }
}

TraceRecord record_of(const Json& row) {
  TraceRecord record = {
      row.at("algorithm").get<std::string>(), row.at("subject").get<std::string>(),
      row.at("place").get<std::string>(),     outcome_of(row.at("outcome").get<std::string>()),
      row.at("message").get<std::string>(),   row.at("values").get<std::vector<std::pair<std::string, std::string>>>()};
  check_numbers(record);
  return record;
}

std::string quoted(const std::string& text) {
  std::string line = dumped(Json(text));
  line.pop_back();  // the line break
  return line;
}

}  // namespace

std::string trace_json(const Compilation& compilation) {
  // One record a line.
  std::string text = fmt::format("{{\"command\": {}, \"format\": \"{}\", \"version\": {}, \"records\": [\n",
                                 quoted(compilation.command_line), trace_format, trace_version);
  bool first = true;
  for (const TraceRecord& record : compilation.trace.records) {
    if (!first) text += ",";
    text += dumped(row_of(record));
    first = false;
  }
  text += "],\n\"fusion\": " + fusion_json(compilation.fusion, compilation.program.fused.graph);
  return text + "}\n";
}

StoredTrace read_trace(std::string_view text, const GraphWhenRead& graph, const std::stop_token& stop) {
  const auto check_version = [](const Json& file) {
    if (file.value("format", "") != trace_format) throw std::runtime_error("it is not a trace file of Stowage");
    if (file.at("version") != trace_version) {
      throw std::runtime_error(
          fmt::format("its version is {}, this tool reads version {}", file.at("version").dump(), trace_version));
    }
  };
  StoredTrace stored;
  std::vector<CandidateRecord> candidates;
  const auto add_record = [&](const Json& row, const Json& before) {
    // Rows of another version may be of another form; that it is one says more.
    if (stored.trace.records.empty() && before.contains("version")) check_version(before);
    stored.trace.records.push_back(record_of(row));
  };
  const auto add_candidate = [&](const Json& row, const Json&) { candidates.push_back(candidate_of(row, graph())); };
  const Json file = parse_rows(text, {{"records", add_record}, {"fusion/candidates", add_candidate}}, stop);
  check_version(file);
  static_cast<void>(file.at("records").get_ref<const Json::array_t&>());  // to have none is damage
  stored.fusion = fusion_of(file.at("fusion"), std::move(candidates));
  return stored;
}

}  // namespace stowage
