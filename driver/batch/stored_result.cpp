// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/stored_result.h"

#include <cstdint>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "driver/json/damage.h"
#include "driver/json/json.h"

namespace stowage {

namespace {

/// Its objects find keys by halving, those of Json one by one: of a line of a million keys each would be compared with
/// all. Keys of a sweep come in the order of their names, as a batch file's do.
using Row = nlohmann::json;

/// Damage where brackets are nested deeper than any row's.
Row parsed(std::string_view line) {
  static constexpr int max_levels = 64;
  return Row::parse(line, [](int depth, Row::parse_event_t, Row&) {
    if (depth > max_levels) throw Damage(fmt::format("brackets stand in more than {} others", max_levels));
    return true;
  });
}

std::int64_t amount(const Row& json, const char* key) {
  const Row& entry = json.at(key);
  if (!entry.is_number()) throw Damage(fmt::format("'{}' is no number", key));
  // Two of them can be added.
  return whole_number(Json(entry), 0, std::numeric_limits<std::int64_t>::max() / 2);
}

std::string text_or_nothing(const Row& json, const char* key) {
  return json.contains(key) ? json.at(key).get<std::string>() : std::string();
}

JobState state_of(const Row& json) {
  const auto name = json.at("status").get<std::string>();
  std::vector<std::string> names;
  for (const JobState state : {JobState::done, JobState::failed, JobState::fault, JobState::interrupted}) {
    if (name == name_of(state)) return state;
    names.emplace_back(name_of(state));
  }
  throw Damage(fmt::format("there is no status '{}', {}", name, suggest_name(name, names)));
}

SweptValue swept_value(const std::string& key, const Row& json) {
  SweptValue swept;
  swept.key = key;
  if (json.is_boolean()) {
    swept.value.is = json.get<bool>();
  } else if (json.is_number_integer()) {
    swept.value.is =
        whole_number(Json(json), std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
  } else if (json.is_number_float()) {
    swept.value.is = json.get<double>();
  } else {
    swept.value.is = json.get<std::string>();
  }
  swept.toml = single_text(swept.value).value_or("");
  return swept;
}

JobTotals totals_of(const Row& json) {
  JobTotals totals;
  totals.groups = amount(json, "groups");
  totals.kernels = amount(json, "kernels");
  totals.dma_transfers = amount(json, "dma_transfers");
  totals.dma_bytes = amount(json, "dma_bytes");
  totals.ldm_peak_bytes = amount(json, "ldm_peak_bytes");
  totals.cycles = amount(json, "cycles");
  totals.seconds = json.at("time_s").get<double>();
  if (!(totals.seconds >= 0)) throw Damage("'time_s' is negative");
  return totals;
}

/// What to_json() of diagnostics wrote.
Diagnostic diagnostic_of(const Row& json) {
  const auto number = [&](const char* key) {
    return json.contains(key) ? static_cast<int>(whole_number(Json(json.at(key)), 0, std::numeric_limits<int>::max()))
                              : 0;
  };
  Diagnostic diagnostic;
  diagnostic.severity = json.at("severity") == "error" ? Severity::error : Severity::warning;
  diagnostic.code = json.at("code").get<std::string>();
  diagnostic.message = json.at("message").get<std::string>();
  diagnostic.location.file = text_or_nothing(json, "file");
  diagnostic.location.line = number("line");
  diagnostic.location.column = number("column");
  diagnostic.location.object = text_or_nothing(json, "object");
  diagnostic.remedy = text_or_nothing(json, "help");
  if (json.contains("notes")) diagnostic.notes = json.at("notes").get<std::vector<std::string>>();
  return diagnostic;
}

StoredResult result_of(const Row& json) {
  StoredResult stored;
  stored.job.name = json.at("job").get<std::string>();
  stored.result.name = stored.job.name;
  stored.result.state = state_of(json);
  stored.result.summary = text_or_nothing(json, "summary");
  if (json.contains("out_of_time")) stored.result.out_of_time = json.at("out_of_time").get<double>();
  stored.version = text_or_nothing(json, "stowage");
  JobKeys keys;
  keys.network = json.at("network").get<std::string>();
  CompileRequest& request = keys.request;
  request.target = json.at("target").get<std::string>();
  request.fusion = json.at("fusion").get<std::string>();
  request.planner = json.at("planner").get<std::string>();
  request.layout = json.contains("layout") ? json.at("layout").get<std::string>() : std::string(given_layout);
  request.library = text_or_nothing(json, "library");
  if (json.contains("cost")) request.cost = json.at("cost").get<std::string>();
  stored.job.keys = std::move(keys);
  if (json.contains("sweep")) {
    SweptValues swept;
    for (const auto& [key, value] : json.at("sweep").items()) swept.push_back(swept_value(key, value));
    stored.job.swept = swept;
  }
  stored.model_hash = text_or_nothing(json, "model_hash");
  // A job that failed has numbers where it is the check that went wrong.
  if (stored.result.state == JobState::done || json.contains("cycles")) {
    stored.result.totals = totals_of(json);
    stored.memory_bytes = amount(json, "parameter_bytes") + amount(json, "activation_bytes");
  }
  if (json.contains("diagnostics")) {
    for (const Row& row : json.at("diagnostics")) stored.result.diagnostics.add(diagnostic_of(row));
  }
  return stored;
}

}  // namespace

StoredResult result_of(std::string_view line) {
  const Row json = parsed(line);
  if (!json.is_object()) throw Damage("an object was wanted");
  try {
    StoredResult stored = result_of(json);
    stored.result.json = line;
    return stored;
  } catch (const std::invalid_argument& wrong) {
    throw Damage(wrong.what());
  }
}

}  // namespace stowage
