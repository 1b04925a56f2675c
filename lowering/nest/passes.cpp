// SPDX-License-Identifier: Apache-2.0
#include "lowering/nest/passes.h"

#include <algorithm>
#include <iterator>

#include "core/check.h"
#include "lowering/model/group_model.h"

namespace stowage {

const Pass* find_pass(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(nest_passes), std::end(nest_passes), [&](const Pass& pass) { return pass.name == name; });
  return found == std::end(nest_passes) ? nullptr : found;
}

int pass_number(std::string_view name) {
  if (name == build_name) return 1;
  const Pass* const found = find_pass(name);
  return found == nullptr ? 0 : static_cast<int>(found - std::begin(nest_passes)) + 2;
}

Lowered lower(const std::string& name, const StageList& stages, const Schedule& schedule, const Target& target) {
  return lower(name, build_group_model(stages), schedule, target);
}

Lowered lower(const std::string& name, const GroupModel& model, const Schedule& schedule, const Target& target) {
  Lowered lowered = build_nest(name, model, schedule, target);
  auto* nest = std::get_if<LoopNest>(&lowered);
  if (nest == nullptr) return lowered;
  for (const Pass& pass : nest_passes) *nest = pass.run(std::move(*nest), target);
  return lowered;
}

std::vector<NestAfter> lower_pass_by_pass(const std::string& name, const StageList& stages, const Schedule& schedule,
                                          const Target& target) {
  Lowered lowered = build_nest(name, build_group_model(stages), schedule, target);
  auto* nest = std::get_if<LoopNest>(&lowered);
  check(nest != nullptr, "a planned group can no longer be lowered");
  std::vector<NestAfter> steps = {{build_name, to_text(*nest)}};
  for (const Pass& pass : nest_passes) {
    *nest = pass.run(std::move(*nest), target);
    std::string text = to_text(*nest);
    if (text != steps.back().text) steps.push_back({pass.name, std::move(text)});
  }
  return steps;
}

}  // namespace stowage
