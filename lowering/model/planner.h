// SPDX-License-Identifier: Apache-2.0
// A planner completes schedules.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>

#include "core/decision.h"
#include "core/stage.h"
#include "core/target.h"
#include "core/trace.h"
#include "lowering/model/certificate.h"
#include "lowering/model/schedule.h"

namespace stowage {

/// A schedule, or why there is none (rule and numbers; for LDM the binding buffer and what it needs).
using Scheduled = std::variant<Schedule, Decision>;

/// What a planner fixes of a group by itself before the rest is filled in; no schedule where it finds no plan.
struct Chosen {
  std::optional<Schedule> schedule;
  std::optional<Certificate> certificate;  ///< of a planner that proves something
};

class Planner {
 public:
  virtual ~Planner() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Whether the form in which axes are planned is chosen for it (lowering/model/stage_form.h), that of the cheapest
  /// plan; the stages that it gets have that form.
  [[nodiscard]] virtual bool chooses_forms() const { return false; }
  /// How kernels begin where their schedules do not say it; the first one of a program is spawned in any case.
  [[nodiscard]] virtual LaunchedBy launch(const Target& /*target*/) const { return LaunchedBy::spawn; }
  /// Fills what `fixed` leaves out, or says which constraint cannot hold.
  /// `subject` names the fused operator in the trace.
  [[nodiscard]] virtual Scheduled complete(const std::string& subject, const StageList& stages, const Schedule& fixed,
                                           const Target& target, TraceSink trace) const = 0;

  /// Who says the cycles of groups of which most are not chosen: itself, or one that is quicker and finds no better
  /// plans.
  [[nodiscard]] virtual const Planner& for_costs() const { return *this; }

  /// complete() in two halves, of which the first may take long: what the planner fixes by itself, and with it what is
  /// fixed already, before it fills the rest. Equal groups have equal choices, names apart. It need not look for plans
  /// that take `to_beat` cycles or more, but may choose one. When `over` is stopped it takes the best that it has found
  /// so far, as soon as there is one.
  [[nodiscard]] virtual Chosen choose(const std::string& /*subject*/, const StageList& /*stages*/,
                                      const Schedule& fixed, const Target& /*target*/, TraceSink /*trace*/,
                                      std::int64_t /*to_beat*/, const std::stop_token& /*over*/) const {
    return {fixed, std::nullopt};
  }
  /// What the planner finds beyond the plan of for_costs(), which takes `to_beat` cycles, in one form of the axes: its
  /// schedule, whole, where it takes less, and what is proved. `begin` is the schedule of that plan, where it has this
  /// form. When `over` is stopped, the best found so far.
  [[nodiscard]] virtual Chosen improve(const std::string& /*subject*/, const StageList& /*stages*/,
                                       const Schedule& /*fixed*/, const Target& /*target*/, TraceSink /*trace*/,
                                       const Schedule* /*begin*/, std::int64_t /*to_beat*/,
                                       const std::stop_token& /*over*/) const {
    return {};
  }
  [[nodiscard]] virtual Scheduled complete_chosen(const std::string& subject, const StageList& stages,
                                                  const Schedule& chosen, const Target& target, TraceSink trace) const {
    return complete(subject, stages, chosen, target, trace);
  }
};

/// Whether a planner begins with what another one finds, and looks for more (Planner::improve).
inline bool improves(const Planner& planner) { return &planner.for_costs() != &planner; }

/// With what its planner wants of the launch where the schedule does not say it.
Schedule with_launch(Schedule schedule, const Planner& planner, const Target& target);

}  // namespace stowage
