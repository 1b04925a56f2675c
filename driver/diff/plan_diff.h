// SPDX-License-Identifier: Apache-2.0
// Two compilations compared: what was fused otherwise, planned otherwise, and what that costs. A PlanDiff holds names
// and numbers only, so it outlives the programs; `stowage diff` prints it and the inspector shows it.
//
// Fused operators are matched by the names of their operators. Where one plan fuses what the other keeps apart, the
// groups on both sides that share operators form one change: every number is compared over the same operators. Groups
// none of whose names the other graph knows (a network exported anew) are matched by their contents, in order.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "driver/session/session.h"

namespace stowage {

/// What is compared of a fused operator, of several, or of a whole program. Sums, but for ldm_bytes: the largest.
struct PlanNumbers {
  std::int64_t groups = 0;  ///< views included
  std::int64_t kernels = 0;
  std::int64_t transfers = 0;
  std::int64_t operations = 0;
  std::int64_t bytes = 0;  ///< of DMA
  std::int64_t ldm_bytes = 0;
  std::int64_t cycles = 0;
  double seconds = 0;
  friend bool operator==(const PlanNumbers&, const PlanNumbers&) = default;
};

struct GroupSide {
  StepId step;  ///< in its program
  std::string name;
  std::string template_name;
  std::vector<std::string> operators;
};

/// One setting of a schedule that differs. Texts are as a person reads them; "" where one side has none.
struct ScheduleChange {
  enum class What : std::uint8_t {
    fused_by,
    merged,
    lanes,
    copied,
    folded,
    reduction,
    split,
    buffer,
    order,
    place,
    slots,
    sharing,
    resident,
    launch
  } what = What::buffer;
  std::string subject;  ///< iterator or tensor, "" for merged, lanes, copied, folded, reduction, split, order, launch
                        ///< and fused_by
  std::string before;
  std::string after;
  std::string words;  ///< what the second plan does, for a sentence: "buffers 128 of k instead of 64"
};

struct GroupChange {
  enum class Kind : std::uint8_t {
    same,         ///< one group on both sides, same schedule and same numbers
    planned,      ///< one group on both sides, other schedule or other numbers
    regrouped,    ///< the same operators, fused otherwise
    only_before,  ///< operators that the second network does not have
    only_after
  } kind = Kind::same;
  std::vector<GroupSide> before;
  std::vector<GroupSide> after;
  PlanNumbers numbers_before;
  PlanNumbers numbers_after;
  std::vector<ScheduleChange> schedule;  ///< for one group on both sides
  /// Of one group on both sides, tensors in words ("its input x") of which a core's buffer has room for all elements in
  /// the second plan and not in the first, and the other way round.
  std::vector<std::string> held;
  std::vector<std::string> released;
};

struct DiffSide {
  std::string network;
  std::string target;
  std::string fusion;
  std::string planner;
  std::string layout;      ///< how pictures lie
  std::string cost;        ///< evaluator by which groups were compared
  std::string model_hash;  ///< "" where it is not known
  PlanNumbers totals;
  std::optional<double> simulated_seconds = std::nullopt;  ///< once simulated (driver/diff/model_error.h)
};

struct PlanDiff {
  DiffSide before;
  DiffSide after;
  /// Settings of the target that differ, without its name: key, value before, value after.
  struct Setting {
    std::string key;
    std::string before;
    std::string after;
  };
  std::vector<Setting> target;
  /// In the order of the first program; what only the second has stands where it comes there.
  std::vector<GroupChange> groups;

  [[nodiscard]] bool is_comparable() const;  ///< some fused operator of one is found in the other
  [[nodiscard]] bool is_same() const;        ///< nothing differs, names of strategies aside
  [[nodiscard]] bool names_cost() const;     ///< groups were compared by another evaluator than the closed form
};

/// What is set otherwise in the second of two plans of one fused operator.
std::vector<ScheduleChange> schedule_changes(const Plan& before, const Plan& after);

PlanDiff diff_programs(const Program& before, const Program& after);
PlanDiff diff_compilations(const Compilation& before, const Compilation& after);

/// One line: "B is 1.3 % faster: conv1 buffers 128 of k instead of 64 (by itself 12.0 % faster); 3 groups fewer". `a`
/// and `b` are what the sides are called.
std::string verdict(const PlanDiff& diff, const std::string& a = "A", const std::string& b = "B");
/// Verdict, totals, a row for every change, and the schedules of those.
std::string diff_text(const PlanDiff& diff, const std::string& a = "A", const std::string& b = "B");
/// "conv1", "conv1 + pool1" (names of the groups of one side), for tables.
std::string side_text(const std::vector<GroupSide>& side);
/// Both sides of a change as texts that differ where the sides do: groups of other operators under the same names are
/// told with their operators, "conv1 (conv1, relu1) + conv2".
std::pair<std::string, std::string> sides_text(const GroupChange& change);
/// "12.3 % faster", "1.50 times as fast" or "equally fast".
std::string speed_text(double seconds_before, double seconds_after);

/// What becomes of time and DMA bytes, as far as they change by 0.1 %: "12.3 % faster, 4.0 % fewer DMA bytes"; "".
std::string gains_text(const PlanNumbers& before, const PlanNumbers& after);
/// What the second plan does otherwise, whatever targets both are for, what gains or loses most first: "conv1 and pool1
/// become one fused operator; conv3 holds its whole input x in LDM; 2 more are planned otherwise". "" where they are
/// planned alike.
std::string change_words(const PlanDiff& diff);
/// Both, of neighbouring plans of a curve, whose values are called so: "at 48 KiB 12.3 % faster than at 32 KiB: conv3
/// holds its whole input x in LDM".
std::string step_words(const PlanDiff& diff, const std::string& before, const std::string& after);

}  // namespace stowage
