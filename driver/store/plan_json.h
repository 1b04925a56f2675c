// SPDX-License-Identifier: Apache-2.0
// plan.json as it is written (docs/plan-format.md).
#pragma once

#include <string>
#include <string_view>

#include "driver/json/json.h"
#include "driver/session/session.h"

namespace stowage {

inline constexpr std::string_view plan_format = "stowage-plan";
inline constexpr int plan_version = 2;         ///< 2: branches and parallel_…, which were called siblings
inline constexpr int oldest_plan_version = 1;  ///< that is read

std::string plan_json(const Compilation& compilation);
/// Its memory map, with the values of constants that no kernel reads.
Json memory_json(const Program& program);
/// Compilation::others, with the time besides the cycles.
Json others_json(const Compilation& compilation);

}  // namespace stowage
