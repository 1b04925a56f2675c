// SPDX-License-Identifier: Apache-2.0
// Plans by a learned evaluator are asked about their own target only.
#pragma once

#include "driver/session/session.h"

namespace stowage {

/// True of a plan by a learned evaluator and another target than its own: what was learned would compare groups wrongly
/// there. Reported: other-target.
bool is_learned_elsewhere(const Compilation& plan, const Target& target, Diagnostics& diagnostics);

/// The evaluator of a plan, for that target. Fails where is_learned_elsewhere.
Result<Evaluator> evaluator_again(const Compilation& plan, const Target& target, Diagnostics& diagnostics);

}  // namespace stowage
