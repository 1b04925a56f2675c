// SPDX-License-Identifier: Apache-2.0
#include "driver/json/certificate_json.h"

#include <array>
#include <string>
#include <string_view>

#include "driver/json/damage.h"
#include "lowering/time/cycle_limit.h"

namespace stowage {
namespace {

/// In the order of Certificate::Ended.
constexpr std::array<std::string_view, 3> ended_names = {"proved", "schedules", "time"};

}  // namespace

Json to_json(const Certificate& certificate) {
  return {{"cycles", certificate.cycles},
          {"least_cycles", certificate.least_cycles},
          {"ended", ended_names.at(static_cast<std::size_t>(certificate.ended))},
          {"planned", certificate.planned},
          {"bounded", certificate.bounded}};
}

Json certificates_json(const Program& program) {
  Json rows = Json::array();
  for (const ProgramStep& step : program.steps) {
    const Plan* const plan = step.plan();
    if (plan == nullptr || !plan->certificate) continue;
    Json row = {{"op", step.group.name}};
    row.update(to_json(*plan->certificate));
    rows.push_back(std::move(row));
  }
  return rows;
}

Certificate read_certificate(const Json& json) {
  constexpr std::int64_t most = std::int64_t{1} << 60;
  Certificate certificate;
  certificate.cycles = whole_number(json.at("cycles"), 0, cycle_limit);
  certificate.least_cycles = whole_number(json.at("least_cycles"), 0, certificate.cycles);
  certificate.planned = whole_number(json.at("planned"), 0, most);
  certificate.bounded = whole_number(json.at("bounded"), 0, most);
  const auto ended = json.at("ended").get<std::string>();
  for (std::size_t e = 0; e < ended_names.size(); ++e) {
    if (ended != ended_names.at(e)) continue;
    certificate.ended = static_cast<Certificate::Ended>(e);
    return certificate;
  }
  throw Damage("its certificate has ended otherwise than any search does: " + ended);
}

}  // namespace stowage
