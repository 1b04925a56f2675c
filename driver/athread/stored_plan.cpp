// SPDX-License-Identifier: Apache-2.0
#include "driver/athread/stored_plan.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "driver/athread/stored_nest.h"
#include "driver/athread/stored_schedule.h"
#include "driver/json/certificate_json.h"
#include "driver/json/damage.h"
#include "lowering/model/stage_form.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_results.h"

namespace stowage {

Json to_json(const Plan& plan) {
  Json json;
  json["schedule"] = to_json(plan.schedule);
  if (plan.is_fixed) json["fixed"] = true;
  json["stages"] = lines_of(to_text(plan.nest.stages));
  json["nest"] = lines_of(to_text(plan.nest));
  json["ldm_bytes"] = plan.nest.ldm_bytes;
  json["dma"] = Json::array();
  for (const auto& [statement, totals] : plan.counts.dma) {
    json["dma"].push_back({{"statement", statement.index()},
                           {"transfers", totals.transfers},
                           {"operations", totals.operations},
                           {"bytes", totals.bytes}});
  }
  json["cycles"] = plan.time.cycles;
  if (plan.certificate) json["certificate"] = to_json(*plan.certificate);
  json["time"] = Json::array();
  for (const TimeTerm& term : plan.time.terms) {
    json["time"].push_back({{"term", name_of(term.cost)},
                            {"cycles", term.cycles},
                            {"formula", formula_text(term.cost)},
                            {"source", source_of(term.cost)}});
  }
  return json;
}

KeyedPlan read_plan(const Json& entries, const std::string& text, const Graph& graph, const FusedOperator& group,
                    const Target& target, KnownNests& known) {
  const auto refuse_nest = [&](const std::string& reason) {
    throw Damage(fmt::format("the loop nest of '{}': {}", group.name, reason));
  };
  Plan plan;
  plan.schedule = schedule_of(entries.at("schedule"));
  plan.nest = read_nest(text, graph, group, form_of(plan.schedule));
  const NestKey key = nest_key(plan.nest);
  const auto equal = known.find(key);
  if (equal) {
    if (const auto broken = verify_names(plan.nest)) refuse_nest(text_of(*broken));
  } else {
    if (const auto broken = verify(plan.nest, target)) refuse_nest(*broken);
    if (const auto broken = verify_results(plan.nest, target)) refuse_nest(*broken);
  }
  const GroupModel model = build_group_model(plan.nest.stages, target);
  if (const auto broken = other_memory(plan.nest, model)) refuse_nest(*broken);
  if (const auto broken = broken_schedule(group.name, model, plan.schedule, target)) {
    throw Damage(fmt::format("the schedule of '{}' cannot hold: {}", group.name, *broken));
  }
  if (const auto broken = other_than_schedule(plan.nest, model, plan.schedule)) {
    throw Damage(fmt::format("the loop nest of '{}' is not that of its schedule: {}", group.name, *broken));
  }
  if (equal) {
    plan.counts = equal->counts;
    const auto time = time_of(*equal, plan.nest);
    plan.time = time ? *time : estimate_time(plan.nest, plan.counts, target);
  } else {
    NestFindings findings = findings_of(plan.nest, target);
    plan.counts = findings.counts;
    plan.time = findings.time;
    known.add(key, std::move(findings));
  }
  plan.is_fixed = entries.contains("fixed") && entries.at("fixed").get<bool>();
  if (entries.contains("certificate")) plan.certificate = read_certificate(entries.at("certificate"));
  return {std::move(plan), key};
}

}  // namespace stowage
