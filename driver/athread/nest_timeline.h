// SPDX-License-Identifier: Apache-2.0
// The timeline of a nest (lowering/simulate/timeline.h) as that of a program's step: a track for each core, tracks of
// DMA for each core with as many transfers beside each other as it had under way, bandwidth and LDM as counters.
#pragma once

#include "core/target.h"
#include "driver/backend/step_timeline.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/simulate/simulate.h"

namespace stowage {

StepTimeline step_timeline(const LoopNest& nest, const Target& target, const Simulation& simulation,
                           const Timeline& timeline);

/// A statement in few words: "get A", "compute conv finish", "fill BB".
std::string statement_name(const LoopNest& nest, StatementId id);

}  // namespace stowage
