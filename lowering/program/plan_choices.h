// SPDX-License-Identifier: Apache-2.0
// What planners have chosen for groups, so that equal groups (lowering/program/canonical_stages.h) are searched once in
// a compilation: while their costs are asked for, or when the program is planned. Between compilations they may be kept
// on disk (driver/athread/kept_choices.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/trace.h"
#include "lowering/model/planner.h"
#include "lowering/program/canonical_stages.h"

namespace stowage {

/// For a group of which nothing is fixed: what its planner fixes (Planner::choose), and its records of how it came to
/// that. Names are those of canonical stages.
struct PlanChoice {
  Schedule schedule;
  std::vector<TraceRecord> records;
  std::optional<Certificate> certificate = std::nullopt;
  bool cut_short = false;  ///< the search was stopped, and might have found better ones
};

/// When `over` is stopped the choice is the best that was found so far. `known` is what planner.for_costs() has chosen
/// for the group, if that is another planner; without it that is asked first.
PlanChoice choose_plan(const CanonicalStages& canonical, const Planner& planner, const Target& target,
                       const std::stop_token& over = {}, const PlanChoice* known = nullptr);

/// The same with a group's own names, for the trace of the fused operator `subject`.
PlanChoice with_original_names(const PlanChoice& choice, const CanonicalStages& canonical, const std::string& subject);

/// Choices by canonical text, of one planner and one target, and with them those of the planner that says its costs.
/// Threads may share it.
class PlanChoices {
 public:
  using All = std::map<std::string, std::shared_ptr<const PlanChoice>>;
  /// What was known of a canonical text before; threads may ask it at once.
  using Recall = std::function<std::optional<PlanChoice>(const std::string&)>;

  /// Null where it is not known. What is found stays valid.
  [[nodiscard]] std::shared_ptr<const PlanChoice> find(const std::string& canonical_text);
  void add(const std::string& canonical_text, PlanChoice choice);
  /// Who is asked for what is not known. Not while others use this.
  void recall_by(Recall recall) { recall_ = std::move(recall); }
  /// Those that were found or added.
  [[nodiscard]] All all() const;
  /// Choices of planner.for_costs(), where that is another planner.
  [[nodiscard]] PlanChoices& for_costs();

 private:
  mutable std::mutex mutex_;
  All choices_;
  Recall recall_;
  std::unique_ptr<PlanChoices> for_costs_;
};

}  // namespace stowage
