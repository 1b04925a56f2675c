// SPDX-License-Identifier: Apache-2.0
// Main memory: addresses of the activations upwards, steps of the network to the right.
#pragma once

#include <functional>

#include "driver/drawing/sheet.h"
#include "lowering/program/program.h"

namespace stowage::drawing {

/// Each tensor from its first to its last use; those whose memory a chosen step (-1: none) reads or writes are lit. A
/// predicate leaves tensors out. Views are drawn as what they lie in.
Scene memory_chart(const Program& program, std::optional<StepId> chosen, const Sheet& sheet,
                   const std::function<bool(TensorId tensor)>& wanted = {});

}  // namespace stowage::drawing
