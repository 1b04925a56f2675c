// SPDX-License-Identifier: Apache-2.0
// A plan's network on another target, without the sources: what curves are made of.
#pragma once

#include <stop_token>

#include "driver/session/session.h"

namespace stowage {

/// The program of the same network fused and planned anew for another target: that of compile() with the strategy,
/// planner and templates of `before`. Nothing is emitted. It starts from the network as it was imported, where `before`
/// has that, else from the network as it was placed for its own target, which is another one only if
/// target.dma.alignment is.
Result<Program> program_on(const Compilation& before, const Target& target, const FixedSchedules& fixed,
                           const CostOptions& costs, Diagnostics& diagnostics, const std::stop_token& stop = {},
                           const ProgressSink& progress = {});

}  // namespace stowage
