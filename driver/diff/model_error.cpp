// SPDX-License-Identifier: Apache-2.0
#include "driver/diff/model_error.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "driver/text/units.h"
#include "lowering/time/measured_error.h"

namespace stowage {

namespace {

std::optional<double> simulated_seconds(const Compilation& compilation, const std::stop_token& stop) {
  if (compilation.backend == nullptr) return std::nullopt;
  Diagnostics ignored;  // a family without a simulator is no mistake
  const auto steps = backend_of(compilation).simulate(compilation.program, DmaOrder::shared, {ignored, stop});
  if (!steps) return std::nullopt;
  std::int64_t cycles = 0;
  for (const SimulatedStep& step : *steps) cycles += step.cycles;
  return static_cast<double>(cycles) / compilation.program.target.clock_hz;
}

}  // namespace

void add_simulated(PlanDiff& diff, const Compilation& before, const Compilation& after, const std::stop_token& stop) {
  diff.before.simulated_seconds = simulated_seconds(before, stop);
  diff.after.simulated_seconds = simulated_seconds(after, stop);
}

bool DifferenceError::is_inside() const { return std::abs(difference) <= model_error; }

std::optional<DifferenceError> difference_error(const PlanDiff& diff) {
  const DiffSide& a = diff.before;
  const DiffSide& b = diff.after;
  if (!a.simulated_seconds || !b.simulated_seconds || !diff.is_comparable() || diff.is_same()) return std::nullopt;
  if (a.totals.seconds <= 0 || *a.simulated_seconds <= 0 || *b.simulated_seconds <= 0) return std::nullopt;
  DifferenceError error;
  error.difference = b.totals.seconds / a.totals.seconds - 1;
  error.simulated_difference = *b.simulated_seconds / *a.simulated_seconds - 1;
  error.closed_form_error = std::max(std::abs(a.totals.seconds / *a.simulated_seconds - 1),
                                     std::abs(b.totals.seconds / *b.simulated_seconds - 1));
  error.model_error = std::max(error.closed_form_error, measured_error);
  return error;
}

std::string difference_error_text(const PlanDiff& diff, const std::string& a, const std::string& b) {
  const auto error = difference_error(diff);
  if (!error) return {};
  const std::string speed = speed_text(*diff.before.simulated_seconds, *diff.after.simulated_seconds);
  const std::string simulated = *diff.before.simulated_seconds == *diff.after.simulated_seconds
                                    ? fmt::format("In simulation {} and {} are equally fast", a, b)
                                    : fmt::format("In simulation {} is {}", b, speed);
  const std::string parts = fmt::format("(closed form against simulation: {}, against measurements: {})",
                                        shown_share(error->closed_form_error), shown_share(measured_error));
  return error->is_inside()
             ? fmt::format(
                   "{}. The difference is inside the model's error of {} {}: on the machine there may be none, "
                   "or the other plan may be faster.",
                   simulated, shown_share(error->model_error), parts)
             : fmt::format("{}. The difference is larger than the model's error of {} {}.", simulated,
                           shown_share(error->model_error), parts);
}

}  // namespace stowage
