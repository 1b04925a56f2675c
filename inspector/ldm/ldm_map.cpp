// SPDX-License-Identifier: Apache-2.0
#include "inspector/ldm/ldm_map.h"

#include "driver/drawing/ldm_map.h"
#include "driver/drawing/memory_chart.h"
#include "inspector/draw/scene_drawing.h"

namespace stowage::inspector {

Drawing ldm_map(const LoadedPlan& plan, std::optional<StepId> index, const Look& look, QSizeF room,
                const TimeCursor* cursor) {
  const StepFacts* const step = plan.step(index);
  if (step == nullptr || step->plan == nullptr) return {};
  const drawing::Sheet sheet = sheet_of(look, room);
  if (cursor == nullptr || cursor->step != index)
    return drawn(drawing::ldm_map(plan.program(), *index, sheet, nullptr, &step->text), look);
  const drawing::LdmMoment moment{cursor->tracks.get(), cursor->core, cursor->cycle, cursor->point.statement};
  return drawn(drawing::ldm_map(plan.program(), *index, sheet, &moment, &step->text), look);
}

Drawing ldm_peaks(const LoadedPlan& plan, const Look& look, QSizeF room) {
  return drawn(drawing::ldm_peaks(plan.program(), sheet_of(look, room)), look);
}

Drawing dram_map(const LoadedPlan& plan, const Subject& chosen, const Look& look, QSizeF room) {
  const auto step = plan.step(chosen.step) != nullptr ? chosen.step : std::nullopt;
  return drawn(drawing::memory_chart(plan.program(), step, sheet_of(look, room)), look);
}

}  // namespace stowage::inspector
