// SPDX-License-Identifier: Apache-2.0
// The last steps of a replay: the finished plan, every transfer with its counts and its reason.
#pragma once

#include <vector>

#include "core/trace.h"
#include "inspector/replay/step_maker.h"

namespace stowage::inspector {

void add_result_steps(StepMaker& maker, const std::vector<TraceRecord>& records);

}  // namespace stowage::inspector
