// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/planners.h"

#include "lowering/search/planner_optimal.h"
#include "lowering/search/planner_searched.h"
#include "lowering/swtvm/planner_swtvm.h"

namespace stowage {

const Planner* find_planner(std::string_view name) {
  static const SwtvmPlanner swtvm;  // stateless, all
  static const SearchedPlanner searched;
  static const OptimalPlanner optimal;
  for (const Planner* planner : std::initializer_list<const Planner*>{&swtvm, &searched, &optimal}) {
    if (planner->name() == name) return planner;
  }
  return nullptr;
}

std::vector<std::string> planner_names() { return {std::string(published_planner), "searched", "optimal"}; }

std::string default_planner() { return "searched"; }

}  // namespace stowage
