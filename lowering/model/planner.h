// SPDX-License-Identifier: Apache-2.0
// A planner completes schedules.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "core/decision.h"
#include "core/stage.h"
#include "core/target.h"
#include "core/trace.h"
#include "lowering/model/schedule.h"

namespace stowage {

/// A schedule, or why there is none (rule and numbers; for LDM the binding buffer and what it needs).
using Scheduled = std::variant<Schedule, Decision>;

class Planner {
 public:
  virtual ~Planner() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Whether it wants axes taken as one wherever that is possible (lowering/model/merged_axes.h); the stages that it
  /// gets are such then.
  [[nodiscard]] virtual bool merges_axes() const { return false; }
  /// Fills what `fixed` leaves out, or says which constraint cannot hold.
  /// `subject` names the fused operator in the trace.
  [[nodiscard]] virtual Scheduled complete(const std::string& subject, const StageList& stages, const Schedule& fixed,
                                           const Target& target, TraceSink trace) const = 0;

  /// complete() of a group of which nothing is fixed, in two halves, of which the first may take long: what the planner
  /// fixes by itself before it fills the rest. Equal groups have equal choices, names apart.
  [[nodiscard]] virtual Schedule choose(const std::string& /*subject*/, const StageList& /*stages*/,
                                        const Target& /*target*/, TraceSink /*trace*/) const {
    return {};
  }
  [[nodiscard]] virtual Scheduled complete_chosen(const std::string& subject, const StageList& stages,
                                                  const Schedule& chosen, const Target& target, TraceSink trace) const {
    return complete(subject, stages, chosen, target, trace);
  }
};

/// Whether a planner has left a record: of the algorithms, the split over the cores, or a search for it.
bool is_of_planner(const TraceRecord& record);

}  // namespace stowage
