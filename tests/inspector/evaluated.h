// SPDX-License-Identifier: Apache-2.0
// Edits of a fused operator, and what comes of them.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "inspector/whatif/evaluate.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {

/// A schedule that fixes these buffers.
inline Schedule buffers(std::map<std::string, std::int64_t> sizes) {
  Schedule schedule;
  schedule.buffer = std::move(sizes);
  return schedule;
}

/// Beside the thread of the window, as planning is.
inline inspector::Evaluation evaluated(const inspector::LoadedPlan& plan, StepId step,
                                       const inspector::PlanEdit& edit) {
  return inspector::beside([&] { return evaluate(plan, step, edit); });
}

}  // namespace stowage::test
