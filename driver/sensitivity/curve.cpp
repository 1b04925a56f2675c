// SPDX-License-Identifier: Apache-2.0
#include "driver/sensitivity/curve.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "core/number_text.h"
#include "core/target_settings.h"
#include "core/toml_reader.h"
#include "driver/batch/knees.h"
#include "driver/session/learned_elsewhere.h"
#include "driver/session/program_on.h"

namespace stowage {

namespace {

constexpr std::string_view prefix = "target.";

/// Numbers of a table and of those in it, by their keys with dots.
void add_numbers(TomlTable& table, const std::string& before, std::map<std::string, double>& numbers) {
  for (const std::string& key : table.keys()) {
    if (table.is_table(key)) {
      TomlTable inner = *table.table(key);
      add_numbers(inner, before + key + ".", numbers);
      continue;
    }
    SweptValue value;
    if (!table.read(key, value.value)) continue;
    if (const auto number = number_of(value.value)) numbers.emplace(before + key, *number);
  }
}

Result<Target> target_with(const Compilation& plan, const SweptValue& value, Diagnostics& diagnostics) {
  const std::string setting = fmt::format("{}={}", value.key.substr(prefix.size()), value.toml);
  Diagnostics own;
  auto target = parse_target(to_toml(plan.program.target), "the plan's target", {setting}, own,
                             families_of(Backends{&backend_of(plan)}));
  diagnostics.append(own);
  if (own.has_errors()) return Failed{};
  return target;
}

/// Whether a learned evaluator would be asked about another target. Reported once, not of every value but the plan's.
bool is_learned_elsewhere(const Compilation& plan, const std::vector<SweptValue>& values, Diagnostics& diagnostics) {
  if (!plan.cost_model) return false;
  return std::any_of(values.begin(), values.end(), [&](const SweptValue& value) {
    Diagnostics ignored;
    const auto target = target_with(plan, value, ignored);
    return target && stowage::is_learned_elsewhere(plan, *target, diagnostics);
  });
}

/// Compiles for one value after the other, and keeps the last plan to compare the next one with.
class CurveMaker {
 public:
  CurveMaker(const Compilation& plan, const CurveRequest& request, Diagnostics& diagnostics,
             const std::stop_token& stop)
      : plan_(plan), request_(request), diagnostics_(diagnostics), stop_(stop) {
    const Program& program = plan.program;
    curve_ = {request.key, plan.network, program.target.name, program.fusion, program.planner, 0, false, {}, {}};
    curve_.own = curve_keys(program.target).at(request.key);
    curve_.in_bytes = is_in_bytes(program.target, request.values.front());
  }

  /// False when stopped.
  bool add(const SweptValue& value) {
    CurvePoint point{value, number_of(value.value).value(), std::nullopt, "", ""};
    Diagnostics own;
    auto program = compiled(value, own);
    if (stop_.stop_requested()) return false;
    note_warnings(own);
    if (!program) {
      point.refusal = first_error(own);
    } else {
      const PlanDiff diff = diff_programs(last_ ? *last_ : *program, *program);
      point.numbers = diff.after.totals;
      if (last_) point.changes = change_words(diff);
      if (point.number == curve_.own) compare_with_plan(*program);
      diffs_.emplace(curve_.points.size(), diff);
      last_ = *std::move(program);
    }
    curve_.points.push_back(std::move(point));
    return true;
  }

  /// The plan itself, where none of the values was its own. False when stopped.
  bool check_plan() {
    if (is_compared_) return true;
    Diagnostics ignored;
    const auto program = program_on(plan_, plan_.program.target, request_.fixed, request_.costs, ignored, stop_);
    if (stop_.stop_requested()) return false;
    if (program) compare_with_plan(*program);
    return true;
  }

  Curve finished() && {
    add_knees();
    return std::move(curve_);
  }

 private:
  Result<Program> compiled(const SweptValue& value, Diagnostics& own) {
    const auto target = target_with(plan_, value, own);
    if (!target) return Failed{};
    return program_on(plan_, *target, request_.fixed, request_.costs, own, stop_);
  }

  void note_warnings(const Diagnostics& own) {
    for (const Diagnostic& diagnostic : own.entries()) {
      if (diagnostic.severity != Severity::warning) continue;
      if (warned_.emplace(diagnostic.code, diagnostic.message).second) diagnostics_.add(diagnostic);
    }
  }

  void compare_with_plan(const Program& today) {
    is_compared_ = true;
    const PlanDiff diff = diff_programs(plan_.program, today);
    if (diff.is_same()) return;
    diagnostics_.warning("plan-differs", {},
                         fmt::format("the network is compiled to another plan today than this one: {}",
                                     verdict(diff, "the plan", "today's")),
                         "name the schedules with which it was compiled (--schedule), or compile it anew; the curve is "
                         "of today's plans");
  }

  void add_knees() {
    std::vector<std::size_t> planned;
    std::vector<double> seconds;  // clocks may be other ones
    std::vector<double> bytes;
    for (std::size_t i = 0; i < curve_.points.size(); ++i) {
      const auto& numbers = curve_.points[i].numbers;
      if (!numbers) continue;
      planned.push_back(i);
      seconds.push_back(numbers->seconds);
      bytes.push_back(static_cast<double>(numbers->bytes));
    }
    std::map<std::size_t, CurveKnee> knees;
    for (const std::size_t k : knees_of(seconds)) knees[k].of_time = true;
    for (const std::size_t k : knees_of(bytes)) knees[k].of_bytes = true;
    for (auto& [k, knee] : knees) {
      knee.point = planned[k];
      knee.before = planned[k - 1];
      knee.words = step_words(diffs_.at(knee.point), value_words(curve_.points[knee.before].value, curve_.in_bytes),
                              value_words(curve_.points[knee.point].value, curve_.in_bytes));
      curve_.knees.push_back(knee);
    }
  }

  const Compilation& plan_;
  const CurveRequest& request_;
  Diagnostics& diagnostics_;
  const std::stop_token& stop_;
  Curve curve_;
  std::optional<Program> last_;
  std::map<std::size_t, PlanDiff> diffs_;  ///< by point: with the one before that has a plan
  std::set<std::pair<std::string, std::string>> warned_;
  bool is_compared_ = false;
};

}  // namespace

bool Curve::has_plan() const {
  return std::any_of(points.begin(), points.end(), [](const CurvePoint& point) { return point.numbers.has_value(); });
}

std::map<std::string, double> curve_keys(const Target& target) {
  Diagnostics ignored;
  std::map<std::string, double> numbers;
  if (auto table = TomlTable::parse(to_toml(target), "target", ignored)) {
    add_numbers(*table, std::string(prefix), numbers);
  }
  return numbers;
}

Result<std::string> curve_key(const std::string& name, const Target& target, Diagnostics& diagnostics) {
  const std::string key = name.starts_with(prefix) ? name : std::string(prefix) + name;
  const auto numbers = curve_keys(target);
  if (numbers.contains(key)) return key;
  std::vector<std::string> names;
  for (const auto& [known, value] : numbers) names.push_back(known);
  SourceLocation location;
  location.file = "--key " + name;
  diagnostics.error("unknown-setting", location, fmt::format("target '{}' has no number '{}'", target.name, key),
                    suggest_name(key, names));
  return Failed{};
}

Result<std::vector<SweptValue>> curve_values(const std::string& key, RangeText range, Diagnostics& diagnostics) {
  if (range.step.empty() && range.factor.empty()) range.factor = "2";
  auto values = swept_range(key, range, diagnostics);
  if (!values || values->size() <= max_curve_values) return values;
  SourceLocation location;
  location.file = fmt::format("--from {} --to {}", range.from, range.to);
  diagnostics.error(
      "too-many-values", location,
      fmt::format("these are {} values, at most {} are compiled for",
                  grouped_digits(static_cast<std::int64_t>(values->size())), grouped_digits(max_curve_values)),
      "take a larger --step or --factor");
  return Failed{};
}

Result<Curve> sensitivity(const Compilation& plan, const CurveRequest& request, Diagnostics& diagnostics,
                          const std::stop_token& stop, const ProgressSink& progress) {
  check(!request.values.empty(), "a curve without values");
  if (!curve_key(request.key, plan.program.target, diagnostics)) return Failed{};
  if (request.key == "target.dma.alignment" && !plan.imported) {
    diagnostics.error("model-gone", {},
                      fmt::format("where tensors lie follows from {}, and the model {} is not there as it was",
                                  request.key, plan.model.path),
                      "bring the model back to its place, or take another key");
    return Failed{};
  }
  if (is_learned_elsewhere(plan, request.values, diagnostics)) return Failed{};
  CurveMaker maker(plan, request, diagnostics, stop);
  for (std::size_t i = 0; i < request.values.size(); ++i) {
    if (progress) progress(fmt::format("{} = {}", request.key, request.values[i].toml), i, request.values.size());
    if (!maker.add(request.values[i])) return Failed{};
  }
  if (!maker.check_plan()) return Failed{};
  return std::move(maker).finished();
}

bool is_in_bytes(const Target& target, const SweptValue& value) {
  check(value.key.starts_with(prefix), "a value of a curve that is not the target's");
  return is_in_bytes(target, std::string_view(value.key).substr(prefix.size()));
}

std::string value_words(const SweptValue& value, bool in_bytes) {
  const auto* const whole = std::get_if<std::int64_t>(&value.value.is);
  if (whole == nullptr || !in_bytes) return value.toml;
  constexpr std::int64_t kibi = 1024;
  return *whole >= kibi && *whole % kibi == 0 ? fmt::format("{} KiB", *whole / kibi) : counted(*whole, "byte");
}

}  // namespace stowage
