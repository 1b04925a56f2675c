// SPDX-License-Identifier: Apache-2.0
// Pictures of memory (driver/drawing) of what is open: one core's scratchpad over the statements of a nest, the peaks
// of all groups, and main memory over the steps of the network.
#pragma once

#include "inspector/draw/drawing.h"
#include "inspector/look/look.h"
#include "inspector/state/loaded_plan.h"
#include "inspector/state/time_cursor.h"

namespace stowage::inspector {

/// Address upwards, program order to the right. Higher than the room where the labels ask for it.
/// With a cursor that stands in the group, what its slots are doing then.
Drawing ldm_map(const LoadedPlan& plan, std::optional<StepId> step, const Look& look, QSizeF room,
                const TimeCursor* cursor = nullptr);
/// The peak of every group under the capacity line, for when no group is chosen.
Drawing ldm_peaks(const LoadedPlan& plan, const Look& look, QSizeF room);
/// Activations in main memory: address upwards, steps to the right, each tensor from its first to its last use.
Drawing dram_map(const LoadedPlan& plan, const Subject& chosen, const Look& look, QSizeF room);

}  // namespace stowage::inspector
