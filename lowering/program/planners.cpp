// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/planners.h"

#include "lowering/search/planner_searched.h"
#include "lowering/swtvm/planner_swtvm.h"

namespace stowage {

const Planner* find_planner(std::string_view name) {
  static const SwtvmPlanner swtvm;  // stateless, both
  static const SearchedPlanner searched;
  for (const Planner* planner : {static_cast<const Planner*>(&swtvm), static_cast<const Planner*>(&searched)}) {
    if (planner->name() == name) return planner;
  }
  return nullptr;
}

std::vector<std::string> planner_names() { return {"swtvm", "searched"}; }

std::string default_planner() { return "searched"; }

}  // namespace stowage
