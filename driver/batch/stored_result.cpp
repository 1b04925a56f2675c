// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/stored_result.h"

#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "driver/json/json.h"

namespace stowage {

namespace {

JobState state_of(const Json& json) {
  for (const JobState state : {JobState::done, JobState::failed, JobState::fault, JobState::interrupted}) {
    if (json == name_of(state)) return state;
  }
  throw std::invalid_argument("'status' is no state that a job can have");
}

SweptValue swept_value(const std::string& key, const Json& json) {
  SweptValue swept;
  swept.key = key;
  if (json.is_boolean()) {
    swept.value.is = json.get<bool>();
  } else if (json.is_number_integer()) {
    swept.value.is =
        whole_number(json, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
  } else if (json.is_number_float()) {
    swept.value.is = json.get<double>();
  } else {
    swept.value.is = json.get<std::string>();
  }
  swept.toml = single_text(swept.value).value_or("");
  return swept;
}

ProgramTotals totals_of(const Json& json) {
  const auto number = [&](const char* key) {
    return whole_number(json.at(key), 0, std::numeric_limits<std::int64_t>::max());
  };
  ProgramTotals totals;
  totals.groups = number("groups");
  totals.kernels = number("kernels");
  totals.dma.transfers = number("dma_transfers");
  totals.dma.bytes = number("dma_bytes");
  totals.ldm_peak_bytes = number("ldm_peak_bytes");
  totals.cycles = number("cycles");
  totals.seconds = json.at("time_s").get<double>();
  return totals;
}

}  // namespace

StoredResult result_of(const std::string& line) {
  const Json json = Json::parse(line);
  StoredResult stored;
  stored.job.name = json.at("job").get<std::string>();
  stored.job.network = json.at("network").get<std::string>();
  stored.job.request.target = json.at("target").get<std::string>();
  stored.job.request.fusion = json.at("fusion").get<std::string>();
  stored.job.request.planner = json.at("planner").get<std::string>();
  if (json.contains("sweep")) {
    for (const auto& [key, value] : json.at("sweep").items()) stored.job.swept.push_back(swept_value(key, value));
  }
  stored.result.name = stored.job.name;
  stored.result.state = state_of(json.at("status"));
  stored.result.summary = json.at("summary").get<std::string>();
  stored.result.json = line;
  if (json.contains("cycles")) stored.result.totals = totals_of(json);
  return stored;
}

}  // namespace stowage
