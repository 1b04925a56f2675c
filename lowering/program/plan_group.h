// SPDX-License-Identifier: Apache-2.0
// Completes, lowers, counts and times one group.
#pragma once

#include <string>
#include <variant>

#include "core/decision.h"
#include "core/target.h"
#include "core/trace.h"
#include "lowering/model/planner.h"
#include "lowering/nest/plan.h"

namespace stowage {

using Planned = std::variant<Plan, Decision>;

/// `fixed` may leave out whatever the planner shall fill in. A planner that merges axes takes them as they are where
/// the published plan of these takes less than what it finds for merged ones.
Planned plan_group(const std::string& name, const StageList& stages, const Schedule& fixed, const Planner& planner,
                   const Target& target, TraceSink trace);

/// The same of a group of which nothing is fixed, from what its planner has chosen for it.
Planned plan_chosen(const std::string& name, const StageList& stages, const Schedule& chosen, const Planner& planner,
                    const Target& target, TraceSink trace);

/// Whether planner swtvm takes less with the axes as they are.
bool published_is_cheaper(const Planned& merged, const std::string& name, const StageList& stages,
                          const Schedule& fixed, const Target& target);

}  // namespace stowage
