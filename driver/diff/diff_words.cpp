// SPDX-License-Identifier: Apache-2.0
#include "driver/diff/diff_words.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/text/listed.h"

namespace stowage {

namespace {

/// Names beyond these are counted instead of listed.
constexpr std::size_t max_names = 3;

std::string operators_text(const GroupSide& group) { return fmt::format("{}", fmt::join(group.operators, " + ")); }

}  // namespace

std::string shortly_listed(std::vector<std::string> names) {
  if (names.size() > max_names) {
    const std::size_t more = names.size() - max_names;
    names.resize(max_names);
    names.push_back(fmt::format("{} more", more));
  }
  return listed(names);
}

std::vector<std::string> names_of(const std::vector<GroupSide>& side) {
  std::vector<std::string> names;
  for (const GroupSide& group : side) names.push_back(group.name);
  return names;
}

std::string listed_by_operators(const std::vector<GroupSide>& side) {
  std::vector<std::string> groups;
  for (const GroupSide& group : side) groups.push_back(operators_text(group));
  return shortly_listed(groups);
}

bool is_joined(const GroupChange& change) { return change.after.size() == 1 && change.before.size() > 1; }
bool is_split(const GroupChange& change) { return change.before.size() == 1 && change.after.size() > 1; }

std::string edits_text(const std::vector<ScheduleChange>& changes) {
  using What = ScheduleChange::What;
  constexpr What ranked[] = {What::split,  What::place,    What::buffer, What::sharing, What::resident, What::slots,
                             What::copied, What::fused_by, What::lanes,  What::merged,  What::order,    What::launch};
  std::vector<std::string> words;
  for (const What what : ranked) {
    for (const ScheduleChange& change : changes) {
      if (change.what == what) words.push_back(change.words);
    }
  }
  return shortly_listed(words);
}

std::string percent_change_text(double before, double after) {
  if (before == after) return "";
  return before == 0 ? "new" : percent_change_text(after / before - 1);
}

std::string percent_change_text(double share) {
  const double percent = 100 * share;
  return std::abs(percent) < 0.05 ? fmt::format("{:+.1g} %", percent) : fmt::format("{:+.1f} %", percent);
}

std::string percent_text(double part) {
  return part < 0.0005 ? "less than 0.1 %" : fmt::format("{:.1f} %", 100 * part);
}

}  // namespace stowage
