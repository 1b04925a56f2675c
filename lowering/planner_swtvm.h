// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lowering/planner.h"

namespace stowage {

/// The planner that swTVM publishes: parallel split (section 5.4), algorithms 4 and 5 (correlation, classification),
/// 1 (LDM management), 2 (loop order) and 3 (DMA insertion). Each records its steps.
class SwtvmPlanner : public Planner {
 public:
  [[nodiscard]] std::string_view name() const override { return "swtvm"; }
  [[nodiscard]] Scheduled complete(const std::string& subject, const StageList& stages, const Schedule& fixed,
                                   const Target& target, TraceSink trace) const override;
};

}  // namespace stowage
