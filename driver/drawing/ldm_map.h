// SPDX-License-Identifier: Apache-2.0
// Pictures of the LDM: one core's scratchpad over the statements of a nest, and the peaks of all fused operators.
#pragma once

#include <cstdint>
#include <optional>

#include "driver/drawing/sheet.h"
#include "lowering/program/program.h"
#include "lowering/simulate/timeline_tracks.h"

namespace stowage::drawing {

/// A cycle of a core, of which the map shows what every slot is doing.
struct LdmMoment {
  const TimelineTracks* tracks = nullptr;  ///< of the step's nest
  int core = 0;
  std::int64_t cycle = 0;
  std::optional<StatementId> statement;  ///< that the core is at, if at any
};

/// Of a fused operator that has a plan: address upwards, program order to the right. Higher than the sheet where the
/// labels ask for it. With a moment the slots' states then stand at the right, each at its addresses. `text`, of the
/// step's nest, is for who has it already: large constants stand in it by their hashes, which take long.
Scene ldm_map(const Program& program, StepId step, const Sheet& sheet, const LdmMoment* moment = nullptr,
              const SpannedText* text = nullptr);
/// The peak of every fused operator under the capacity line.
Scene ldm_peaks(const Program& program, const Sheet& sheet);

}  // namespace stowage::drawing
