// SPDX-License-Identifier: Apache-2.0
// A PlanDiff in words and tables.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "driver/diff/diff_tables.h"
#include "driver/diff/diff_words.h"
#include "driver/diff/model_error.h"
#include "driver/diff/plan_diff.h"
#include "driver/text/text_table.h"

namespace stowage {

namespace {

using Kind = GroupChange::Kind;

/// Reasons of a verdict, and how much of the difference the second one must explain to be told.
constexpr std::size_t max_reasons = 2;
constexpr double least_share = 0.15;

double seconds_gained(const GroupChange& change) {
  return change.numbers_before.seconds - change.numbers_after.seconds;
}

/// "conv1 buffers 128 of k instead of 64 (by itself 12.0 % faster)"; what it gains is left out where the network is
/// nothing else.
std::string planned_clause(const GroupChange& change, const PlanDiff& diff) {
  if (change.schedule.empty()) return "";
  const std::string text = fmt::format("{} {}", change.after[0].name, edits_text(change.schedule));
  const double before = change.numbers_before.seconds;
  const double after = change.numbers_after.seconds;
  if (before == diff.before.totals.seconds && after == diff.after.totals.seconds) return text;
  return fmt::format("{} (by itself {})", text, speed_text(before, after));
}

/// What the second plan does otherwise, as a clause; "" where its schedule is the same.
std::string clause(const GroupChange& change, const PlanDiff& diff) {
  switch (change.kind) {
    case Kind::planned: return planned_clause(change, diff);
    case Kind::regrouped:
      if (is_joined(change)) return fmt::format("{} are one fused operator", shortly_listed(names_of(change.before)));
      if (is_split(change))
        return fmt::format("{} are fused operators of their own", shortly_listed(names_of(change.after)));
      return fmt::format("{} instead of {}", listed_by_operators(change.after), listed_by_operators(change.before));
    case Kind::only_before: return fmt::format("{} is gone", shortly_listed(names_of(change.before)));
    case Kind::only_after: return fmt::format("{} is new", shortly_listed(names_of(change.after)));
    case Kind::same: return "";
  }
  return "";
}

/// What changes have in common, for counting: "are joined from smaller ones".
std::string common_clause(const GroupChange& change) {
  switch (change.kind) {
    case Kind::planned: return change.schedule.empty() ? "" : "are planned otherwise";
    case Kind::regrouped:
      // Where several groups stand against several it is neither: what one took from another is not said by counting.
      if (is_joined(change)) return "are joined from smaller ones";
      if (is_split(change)) return "come from splitting larger ones";
      return "hold other operators than before";
    case Kind::only_before: return "are gone";
    case Kind::only_after: return "are new";
    case Kind::same: return "";
  }
  return "";
}

/// Changes that are alike and go in the direction of the whole difference.
struct Reason {
  double seconds = 0;
  std::size_t groups = 0;
  const GroupChange* largest = nullptr;
};

/// What explains most of the difference, in words: kinds of changes, each with its largest one.
std::vector<std::string> reasons(const PlanDiff& diff) {
  const double gained = diff.before.totals.seconds - diff.after.totals.seconds;
  std::map<std::string, Reason> by_clause;
  for (const GroupChange& change : diff.groups) {
    const double seconds = seconds_gained(change);
    const std::string common = common_clause(change);
    if (seconds * gained <= 0 || common.empty()) continue;
    Reason& reason = by_clause[common];
    reason.seconds += seconds;
    reason.groups += std::max<std::size_t>(1, change.after.size());
    if (reason.largest == nullptr || std::abs(seconds) > std::abs(seconds_gained(*reason.largest))) {
      reason.largest = &change;
    }
  }
  std::vector<std::pair<std::string, Reason>> ranked(by_clause.begin(), by_clause.end());
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return std::abs(a.second.seconds) > std::abs(b.second.seconds);
  });
  std::vector<std::string> result;
  for (const auto& [common, reason] : ranked) {
    if (result.size() == max_reasons) break;
    if (!result.empty() && std::abs(reason.seconds) < least_share * std::abs(gained)) break;
    const bool alone = reason.groups == std::max<std::size_t>(1, reason.largest->after.size());
    result.push_back(alone ? clause(*reason.largest, diff)
                           : fmt::format("{} fused operators {} (above all {})", reason.groups, common,
                                         clause(*reason.largest, diff)));
  }
  return result;
}

/// "on another target (ldm_bytes 131072 instead of 65536)", or "".
std::string target_clause(const PlanDiff& diff) {
  if (diff.target.empty()) return "";
  std::vector<std::string> settings;
  for (const PlanDiff::Setting& setting : diff.target) {
    settings.push_back(setting.before.starts_with('[')
                           ? setting.key
                           : fmt::format("{} {} instead of {}", setting.key, setting.after, setting.before));
  }
  return fmt::format("another target ({})", shortly_listed(settings));
}

std::string groups_clause(const PlanDiff& diff) {
  const auto change = diff.after.totals.groups - diff.before.totals.groups;
  if (change == 0) return "";
  return fmt::format("{} {}", counted(std::abs(change), "group"), change < 0 ? "fewer" : "more");
}

/// A cell with what it says of numbers that did not change: nothing.
std::string diff_cell(const Cell& cell, ColumnKind kind) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    if (!is_change(kind)) return grouped_digits(*whole);
    return *whole == 0 ? "" : (*whole > 0 ? "+" : "") + grouped_digits(*whole);
  }
  const auto* fraction = std::get_if<double>(&cell);
  if (fraction == nullptr) return "";
  return kind == ColumnKind::seconds ? seconds_text(*fraction) : percent_change_text(*fraction);
}

/// Columns of a table under headings that name both plans.
class NamedColumns {
 public:
  NamedColumns(const PlanTable& table, const std::vector<std::string_view>& keys)
      : table_(table), columns_(columns_by_key(table.columns, keys)) {}
  [[nodiscard]] std::vector<std::string> cells(const PlanRow& row) const {
    std::vector<std::string> texts;
    for (const std::size_t c : columns_)
      texts.push_back(diff_cell(row.cells[c], measured_kind(table_.columns[c].kind, row.measure)));
    return texts;
  }
  [[nodiscard]] std::string text(std::vector<std::string> headings) const {
    TextTable text(std::move(headings));
    for (const PlanRow& row : table_.rows) text.add(cells(row));
    return text.text();
  }

 private:
  const PlanTable& table_;
  std::vector<std::size_t> columns_;
};

std::string totals_text(const PlanDiff& diff, const std::string& a, const std::string& b) {
  const PlanTable table = totals_table(diff);
  return NamedColumns(table, {"what", "baseline", "current", "change", "share"})
      .text({"in all", ">" + a, ">" + b, ">change", ">"});
}

std::string changes_text(const PlanDiff& diff, const std::string& a, const std::string& b) {
  const PlanTable table = changes_table(diff);
  const NamedColumns columns(table, {"baseline", "group", "change", "cycles_before", "cycles_now", "cycles", "share",
                                     "dma_bytes", "dma_transfers", "dma_operations", "ldm_bytes"});
  TextTable text({"fused operators of " + a, "of " + b, "", ">cycles " + a, ">cycles " + b, ">change", ">",
                  ">DMA bytes", ">transfers", ">operations", ">LDM"});
  for (std::size_t i = 0; i < diff.groups.size(); ++i) {
    if (diff.groups[i].kind == Kind::same) continue;
    std::vector<std::string> cells = columns.cells(table.rows[i]);
    if (cells[1] == cells[0]) cells[1].clear();
    text.add(std::move(cells));
  }
  return text.text();
}

std::string schedules_text(const PlanDiff& diff, const std::string& a, const std::string& b) {
  TextTable text({"fused operator", "schedule", a, b});
  bool any = false;
  for (const GroupChange& change : diff.groups) {
    const PlanTable table = schedule_table(change);
    const NamedColumns columns(table, {"what", "baseline", "current"});
    for (const PlanRow& row : table.rows) {
      std::vector<std::string> cells = columns.cells(row);
      cells.insert(cells.begin(), &row == &table.rows.front() ? change.after[0].name : "");
      text.add(std::move(cells));
      any = true;
    }
  }
  return any ? text.text() : "";
}

}  // namespace

std::string side_text(const std::vector<GroupSide>& side) {
  return fmt::format("{}", fmt::join(names_of(side), " + "));
}

std::pair<std::string, std::string> sides_text(const GroupChange& change) {
  std::pair<std::string, std::string> texts = {side_text(change.before), side_text(change.after)};
  if (change.kind != Kind::regrouped || texts.first != texts.second) return texts;
  const auto with_operators = [](const std::vector<GroupSide>& side) {
    std::vector<std::string> groups;
    for (const GroupSide& group : side) {
      groups.push_back(group.operators.size() == 1
                           ? group.name
                           : fmt::format("{} ({})", group.name, fmt::join(group.operators, ", ")));
    }
    return fmt::format("{}", fmt::join(groups, " + "));
  };
  return {with_operators(change.before), with_operators(change.after)};
}

std::string speed_text(double seconds_before, double seconds_after) {
  if (seconds_before == seconds_after) return "equally fast";
  const double ratio = seconds_after / seconds_before;
  if (seconds_before <= 0 || ratio >= 2) return fmt::format("{:.2f} times as slow", ratio);
  if (ratio > 1) return percent_text(ratio - 1) + " slower";
  if (ratio <= 0.5 && seconds_after > 0) return fmt::format("{:.2f} times as fast", 1 / ratio);
  return percent_text(1 - ratio) + " faster";
}

std::string verdict(const PlanDiff& diff, const std::string& a, const std::string& b) {
  const double before = diff.before.totals.seconds;
  const double after = diff.after.totals.seconds;
  if (!diff.is_comparable()) {
    return fmt::format(
        "{} and {} are plans of different networks ({} and {}) without a fused operator in common, so only totals can "
        "be compared: {} takes {}, {} takes {}",
        a, b, diff.before.network, diff.after.network, a, seconds_text(before), b, seconds_text(after));
  }
  if (diff.is_same()) return fmt::format("{} and {} are the same plan", a, b);
  std::string text = before == after ? fmt::format("{} and {} are equally fast", a, b)
                                     : fmt::format("{} is {}", b, speed_text(before, after));
  std::vector<std::string> clauses;
  if (const std::string target = target_clause(diff); !target.empty()) clauses.push_back(target);
  for (std::string& reason : reasons(diff)) clauses.push_back(std::move(reason));
  if (const std::string groups = groups_clause(diff); !groups.empty()) clauses.push_back(groups);
  if (clauses.empty()) {
    const auto changed = std::count_if(diff.groups.begin(), diff.groups.end(),
                                       [](const GroupChange& change) { return change.kind != Kind::same; });
    clauses.push_back(counted(static_cast<std::size_t>(changed), "fused operator") +
                      (changed == 1 ? " differs" : " differ"));
  }
  return fmt::format("{}: {}", text, fmt::join(clauses, "; "));
}

std::string diff_text(const PlanDiff& diff, const std::string& a, const std::string& b) {
  std::string text = verdict(diff, a, b) + "\n";
  if (const std::string error = difference_error_text(diff, a, b); !error.empty()) text += error + "\n";
  text += "\n" + totals_text(diff, a, b);
  if (!diff.target.empty()) {
    const PlanTable table = settings_table(diff);
    text += "\n" + NamedColumns(table, {"what", "baseline", "current"}).text({"setting of the target", a, b});
  }
  if (diff.before.network == diff.after.network && diff.before.model_hash != diff.after.model_hash) {
    text += "\nThe model files differ.\n";
  }
  if (!diff.is_comparable()) return text;
  const auto same = std::count_if(diff.groups.begin(), diff.groups.end(),
                                  [](const GroupChange& change) { return change.kind == Kind::same; });
  if (static_cast<std::size_t>(same) < diff.groups.size()) text += "\n" + changes_text(diff, a, b);
  text += fmt::format("\n{} the same in both.\n",
                      counted(static_cast<std::size_t>(same), "fused operator") + (same == 1 ? " is" : " are"));
  if (const std::string schedules = schedules_text(diff, a, b); !schedules.empty()) text += "\n" + schedules;
  return text;
}

}  // namespace stowage
