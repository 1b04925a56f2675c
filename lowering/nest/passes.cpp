// SPDX-License-Identifier: Apache-2.0
#include "lowering/nest/passes.h"

#include <algorithm>
#include <iterator>

#include "core/check.h"
#include "lowering/model/group_model.h"
#include "lowering/nest/build_nest.h"

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

Lowered lower(const std::string& name, const StageList& stages, const Schedule& schedule, const Target& target) {
  return lower(name, build_group_model(stages, target), schedule, target);
}

Lowered lower(const std::string& name, const GroupModel& model, const Schedule& schedule, const Target& target) {
  auto built = build_nest(name, model, schedule, target);
  if (auto* refused = std::get_if<Decision>(&built)) return std::move(*refused);
  LoopNest nest = place_transfers(std::get<BuiltNest>(std::move(built)), model);
  for (const Pass& pass : nest_passes) nest = pass.run(std::move(nest), target);
  return nest;
}

std::vector<NestAfter> lower_pass_by_pass(const std::string& name, const StageList& stages, const Schedule& schedule,
                                          const Target& target) {
  const GroupModel model = build_group_model(stages, target);
  auto built = build_nest(name, model, schedule, target);
  check(std::holds_alternative<BuiltNest>(built), "a planned group can no longer be lowered");
  std::vector<NestAfter> steps = {{build_pass.name, to_text(std::get<BuiltNest>(built).nest)}};
  LoopNest nest = place_transfers(std::get<BuiltNest>(std::move(built)), model);
  steps.push_back({place_transfers_pass.name, to_text(nest)});
  for (const Pass& pass : nest_passes) {
    nest = pass.run(std::move(nest), target);
    std::string text = to_text(nest);
    if (text != steps.back().text) steps.push_back({pass.name, std::move(text)});
  }
  return steps;
}

}  // namespace stowage
