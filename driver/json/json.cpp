// SPDX-License-Identifier: Apache-2.0
#include "driver/json/json.h"

#include <limits>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "core/check.h"
#include "core/shown_diagnostics.h"

namespace stowage {

namespace {

std::string key_of(LostTo cause) {
  switch (cause) {
    case LostTo::inner_loop: return "inner_loops";
    case LostTo::capacity: return "capacity";
    case LostTo::layout: return "layout";
    case LostTo::overlap: return "overlap";
    case LostTo::barriers: return "barriers";
    case LostTo::launch: return "launches";
  }
  fail_check("unknown cause of a distance to the limit");
}

/// Seconds by cause.
Json lost_json(const LimitDistance& distance, const Target& target) {
  Json json;
  for (std::size_t i = 0; i < losses; ++i) {
    const auto cause = static_cast<LostTo>(i);
    json[key_of(cause)] = static_cast<double>(distance.of(cause)) / target.clock_hz;
  }
  return json;
}

}  // namespace

Json totals_json(const Program& program) {
  const ProgramTotals totals = totals_of(program);
  Json json;
  json["groups"] = totals.groups;
  json["kernels"] = totals.kernels;
  for (const KindTotals& of_kind : totals.by_kind) {
    if (of_kind.steps == 0 || of_kind.kind->key.empty()) continue;
    json[fmt::format("{}_steps", of_kind.kind->key)] = of_kind.steps;
    json[fmt::format("{}_cycles", of_kind.kind->key)] = of_kind.cycles;
  }
  json["operators"] = totals.operators;
  json["flops"] = totals.flops;
  json["multiply_adds"] = totals.multiply_adds;
  json["dma_transfers"] = totals.dma.transfers;
  json["dma_operations"] = totals.dma.operations;
  json["dma_bytes"] = totals.dma.bytes;
  json["ldm_peak_bytes"] = totals.ldm_peak_bytes;
  json["parameter_bytes"] = program.memory.parameter_bytes;
  json["activation_bytes"] = program.memory.activation_bytes;
  json["cycles"] = totals.cycles;
  json["time_s"] = totals.seconds;
  if (totals.least_seconds > 0) {
    json["dma_bytes_bound"] = totals.least_bytes;
    json["time_bound_s"] = totals.least_seconds;
    json["time_lost_s"] = lost_json(totals.distance, program.target);
  }
  return json;
}

Json limits_json(const Program& program) {
  const IdVector<StepId, StepLimit> limits = limits_of(program);
  Json rows = Json::array();
  for (const StepId s : program.steps.ids()) {
    if (program.steps[s].plan() == nullptr) continue;
    const StepPlan* const plan = program.steps[s].step_plan();
    const auto& [limit, distance] = limits[s];
    rows.push_back({{"op", program.steps[s].group.name},
                    {"cycles", plan->cycles()},
                    {"dma_bytes", plan->traffic().bytes},
                    {"dma_bytes_bound", limit.bytes},
                    {"time_s", static_cast<double>(plan->cycles()) / program.target.clock_hz},
                    {"time_bound_s", limit.seconds()},
                    {"moving_s", limit.moving_seconds},
                    {"computing_s", limit.computing_seconds},
                    {"critical_path_s", limit.critical_path_seconds},
                    {"time_lost_s", lost_json(distance, program.target)}});
  }
  return rows;
}

Json to_json(const Diagnostics& diagnostics) {
  Json rows = Json::array();
  for (const Diagnostic& diagnostic : shown_diagnostics(diagnostics.entries())) {
    Json row;
    row["severity"] = diagnostic.severity == Severity::error ? "error" : "warning";
    row["code"] = diagnostic.code;
    row["message"] = diagnostic.message;
    if (!diagnostic.location.file.empty()) row["file"] = diagnostic.location.file;
    if (diagnostic.location.line > 0) row["line"] = diagnostic.location.line;
    if (diagnostic.location.column > 0) row["column"] = diagnostic.location.column;
    if (!diagnostic.location.object.empty()) row["object"] = diagnostic.location.object;
    if (!diagnostic.notes.empty()) row["notes"] = diagnostic.notes;
    if (!diagnostic.remedy.empty()) row["help"] = diagnostic.remedy;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string in_words(const Json::exception& failure) {
  if (const auto* syntax = dynamic_cast<const Json::parse_error*>(&failure)) {
    return fmt::format("it is not JSON, or was cut short (byte {})", syntax->byte);
  }
  if (dynamic_cast<const Json::out_of_range*>(&failure) != nullptr) {
    // The library tells the key between quotes, and nowhere else.
    const std::string_view message = failure.what();
    const auto open = message.find('\'');
    const auto close = message.rfind('\'');
    const bool has_key = open != std::string_view::npos && close > open;
    return fmt::format("{} is missing: another version wrote it, or it was edited",
                       has_key ? message.substr(open, close - open + 1) : "an entry");
  }
  return "an entry is of another type than this version writes: another version wrote it, or it was edited";
}

std::int64_t whole_number(const Json& entry, std::int64_t low, std::int64_t high) {
  // Unsigned ones are those beyond the signed range, or small positive ones.
  const bool fits =
      entry.is_number_integer() &&
      (!entry.is_number_unsigned() ||
       entry.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  const std::int64_t number = fits ? entry.get<std::int64_t>() : 0;
  if (fits && number >= low && number <= high) return number;
  throw std::invalid_argument(
      fmt::format("{} stands where a whole number from {} to {} was wanted", entry.dump(), low, high));
}

Json lines_of(const std::string& text) {
  Json lines = Json::array();
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string joined(const Json& lines) {
  std::string text;
  for (const Json& line : lines) text += line.get<std::string>() + "\n";
  return text;
}

std::string kind_of_step(const Json& step) {
  if (step.contains("kind")) return step.at("kind").get<std::string>();
  const bool is_management = step.contains("schedule") && step.at("schedule").contains("management_core");
  return std::string(is_management ? ManagementStep::kind.key : "");
}

std::string dumped(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace stowage
