// SPDX-License-Identifier: Apache-2.0
#include "lowering/nest/passes.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/check.h"

namespace stowage {

const Pass* find_pass(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(nest_passes), std::end(nest_passes), [&](const Pass& pass) { return pass.name == name; });
  return found == std::end(nest_passes) ? nullptr : found;
}

int pass_number(std::string_view name) {
  int number = 0;
  for (const SchedulePass& pass : schedule_passes) {
    ++number;
    if (pass.name == name) return number;
  }
  for (const Pass& pass : nest_passes) {
    ++number;
    if (pass.name == name) return number;
  }
  return 0;
}

std::variant<BuiltNest, Decision> run_build(BuiltNest /*nothing*/, const ScheduledGroup& group) {
  return build_nest(group.name, group.model, group.schedule, group.target);
}

std::variant<BuiltNest, Decision> run_place_transfers(BuiltNest built, const ScheduledGroup& group) {
  BuiltNest placed;
  placed.nest = place_transfers(std::move(built), group.model);
  return placed;
}

namespace {

/// All passes in the order of their tables; `after` sees the name of each and the nest that it leaves.
template <class After>
Lowered run_passes(const ScheduledGroup& group, After after) {
  BuiltNest built;
  for (const SchedulePass& pass : schedule_passes) {
    auto made = pass.run(std::move(built), group);
    if (auto* refused = std::get_if<Decision>(&made)) return std::move(*refused);
    built = std::get<BuiltNest>(std::move(made));
    after(pass.name, built.nest);
  }
  LoopNest nest = std::move(built.nest);
  for (const Pass& pass : nest_passes) {
    nest = pass.run(std::move(nest), group.target);
    after(pass.name, nest);
  }
  return nest;
}

}  // namespace

Lowered lower(const std::string& name, const StageList& stages, const Schedule& schedule, const Target& target) {
  return lower(name, build_group_model(stages, target), schedule, target);
}

Lowered lower(const std::string& name, const GroupModel& model, const Schedule& schedule, const Target& target) {
  return run_passes({name, model, schedule, target}, [](std::string_view, const LoopNest&) {});
}

std::vector<NestAfter> lower_pass_by_pass(const std::string& name, const StageList& stages, const Schedule& schedule,
                                          const Target& target) {
  const GroupModel model = build_group_model(stages, target);
  std::vector<NestAfter> steps;
  const Lowered lowered = run_passes({name, model, schedule, target}, [&](std::string_view pass, const LoopNest& nest) {
    std::string text = to_text(nest);
    if (find_pass(pass) == nullptr || text != steps.back().text) steps.push_back({pass, std::move(text)});
  });
  check(std::holds_alternative<LoopNest>(lowered), "a planned group can no longer be lowered");
  return steps;
}

}  // namespace stowage
