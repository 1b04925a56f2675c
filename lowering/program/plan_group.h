// SPDX-License-Identifier: Apache-2.0
// Completes, lowers, counts and times one group.
#pragma once

#include <stop_token>
#include <string>
#include <variant>

#include "core/decision.h"
#include "core/target.h"
#include "core/trace.h"
#include "lowering/model/planner.h"
#include "lowering/nest/plan.h"

namespace stowage {

using Planned = std::variant<Plan, Decision>;

/// `fixed` may leave out whatever the planner shall fill in. Of the forms that the axes may have
/// (lowering/model/stage_form.h) it is that of the plan that takes least; they stay as they are where the published
/// plan of these takes less than all that is found in others.
/// Where `over` is stopped the plan is the best that was found so far.
Planned plan_group(const std::string& name, const StageList& stages, const Schedule& fixed, const Planner& planner,
                   const Target& target, TraceSink trace, const std::stop_token& over = {});

/// The same of a group of which nothing is fixed, from what its planner has chosen for it.
Planned plan_chosen(const std::string& name, const StageList& stages, const Schedule& chosen, const Planner& planner,
                    const Target& target, TraceSink trace);

/// What planner swtvm makes of the axes as they are.
Planned published_plan(const std::string& name, const StageList& stages, const Schedule& fixed, const Target& target);

/// Whether a is a plan, and b is none or takes more cycles.
bool takes_less(const Planned& a, const Planned& b);

/// From how many cycles on no plan in another form is looked for. A plan that has third or fourth slots was a few
/// hundredths slower before it got them, which is the last that a search does: another form's may begin as far above.
std::int64_t to_beat_in_other_form(const Plan& found);

}  // namespace stowage
