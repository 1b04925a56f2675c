// SPDX-License-Identifier: Apache-2.0
// The planners that there are, by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lowering/model/planner.h"

namespace stowage {

/// "swtvm", "searched", "optimal". Nullptr for an unknown name.
const Planner* find_planner(std::string_view name);
std::vector<std::string> planner_names();
/// Of a compilation that names none.
std::string default_planner();
/// The one of the swTVM papers (lowering/swtvm).
inline constexpr std::string_view published_planner = "swtvm";

}  // namespace stowage
