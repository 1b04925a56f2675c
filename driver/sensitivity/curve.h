// SPDX-License-Identifier: Apache-2.0
// What a plan's network takes as one value of its target changes: it is compiled anew for every value, with everything
// else as it was, and what neighbouring plans do otherwise is told in words.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/progress.h"
#include "driver/batch/sweep_range.h"
#include "driver/diff/plan_diff.h"
#include "driver/session/session.h"

namespace stowage {

/// More values than this are a mistake: each is a compilation.
inline constexpr std::size_t max_curve_values = 1000;

struct CurveRequest {
  std::string key;                 ///< "target.ldm.bytes"
  std::vector<SweptValue> values;  ///< numbers, ascending
  FixedSchedules fixed;            ///< with which the network was compiled; a plan does not tell
  CostOptions costs;
};

struct CurvePoint {
  SweptValue value;
  double number = 0;                   ///< the same
  std::optional<PlanNumbers> numbers;  ///< of the whole network; nothing where there is no plan
  std::string refusal;                 ///< then why not
  std::string changes;  ///< what the plan does otherwise than that of the nearest smaller value; "": nothing
};

/// A place where time or DMA bytes bend (knees_of).
struct CurveKnee {
  std::size_t point = 0;
  std::size_t before = 0;  ///< nearest smaller value that has a plan
  bool of_time = false;
  bool of_bytes = false;
  std::string words;  ///< "at 48 KiB 5.2 % faster than at 32 KiB: conv3 holds its whole input x in LDM"
};

struct Curve {
  std::string key;
  std::string network;
  std::string target;
  std::string fusion;
  std::string planner;
  double own = 0;         ///< value of the plan that the curve was asked of
  bool in_bytes = false;  ///< its values are numbers of bytes
  std::vector<CurvePoint> points;
  std::vector<CurveKnee> knees;  ///< ascending

  [[nodiscard]] bool has_plan() const;  ///< of any value
};

/// Keys of a target that are numbers, as a curve names them ("target.ldm.bytes"), with the target's own values.
std::map<std::string, double> curve_keys(const Target& target);

/// The key by itself or with "target." before it, as a curve names it. Reported: unknown-setting, with the nearest
/// name.
Result<std::string> curve_key(const std::string& name, const Target& target, Diagnostics& diagnostics);

/// Reads the values, of which there may be max_curve_values; doubles where neither step nor factor is given. Reported
/// as by swept_range(), and too-many-values.
Result<std::vector<SweptValue>> curve_values(const std::string& key, RangeText range, Diagnostics& diagnostics);

/// The curve of a plan's network. What a value is refused for is told by its point, not reported. Warned of: a plan
/// that is not what its network is compiled to today (plan-differs), and what compiling warns of, once. Fails without a
/// diagnostic when stopped. Reported: unknown-setting, model-gone where the network as it was imported is needed and
/// not there, and other-target of a plan by a learned evaluator.
Result<Curve> sensitivity(const Compilation& plan, const CurveRequest& request, Diagnostics& diagnostics,
                          const std::stop_token& stop = {}, const ProgressSink& progress = {});

/// Whether a curve's values are numbers of bytes, as the target says of its key.
bool is_in_bytes(const Target& target, const SweptValue& value);
/// A value as a person reads it: "48 KiB" of bytes.
std::string value_words(const SweptValue& value, bool in_bytes);

}  // namespace stowage
