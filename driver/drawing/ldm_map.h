// SPDX-License-Identifier: Apache-2.0
// Pictures of the LDM: one core's scratchpad over the statements of a nest, and the peaks of all fused operators.
#pragma once

#include "driver/drawing/sheet.h"
#include "lowering/program/program.h"

namespace stowage::drawing {

/// Of a fused operator that has a plan: address upwards, program order to the right. Higher than the sheet where the
/// labels ask for it.
Scene ldm_map(const Program& program, StepId step, const Sheet& sheet);
/// The peak of every fused operator under the capacity line.
Scene ldm_peaks(const Program& program, const Sheet& sheet);

}  // namespace stowage::drawing
