// SPDX-License-Identifier: Apache-2.0
// What changes from a plan to the next one of a curve, in words.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/diff/diff_words.h"
#include "driver/diff/plan_diff.h"
#include "driver/text/listed.h"

namespace stowage {

namespace {

/// Changes that are told; the others are counted.
constexpr std::size_t max_told = 3;
/// A change of less than this part is not told.
constexpr double least_told = 0.001;

/// What became of a number, as a part of what it was.
double part_of(double before, double after) { return before > 0 ? after / before - 1 : 0; }

double bytes_part(const PlanNumbers& before, const PlanNumbers& after) {
  return part_of(static_cast<double>(before.bytes), static_cast<double>(after.bytes));
}

/// Tensors of which a core's buffer holds all elements now, or does no more: "conv3 holds its whole input x in LDM".
std::string held_clause(const GroupChange& change) {
  const auto whole = [](std::vector<std::string> tensors) {
    constexpr std::string_view possessive = "its ";
    for (std::string& tensor : tensors) tensor.insert(possessive.size(), "whole ");
    return shortly_listed(std::move(tensors));
  };
  std::vector<std::string> parts;
  if (!change.held.empty()) parts.push_back(fmt::format("holds {} in LDM", whole(change.held)));
  if (!change.released.empty()) parts.push_back(fmt::format("no longer holds {} in LDM", whole(change.released)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string planned_clause(const GroupChange& change) {
  const std::string held = held_clause(change);
  const std::string edits = change.schedule.empty() ? "" : edits_text(change.schedule);
  if (held.empty() && edits.empty()) return "";
  const std::string both = held.empty() ? edits : edits.empty() ? held : fmt::format("{} ({})", held, edits);
  return fmt::format("{} {}", change.after[0].name, both);
}

/// "" of a change that only numbers tell of.
std::string clause(const GroupChange& change) {
  switch (change.kind) {
    case GroupChange::Kind::planned: return planned_clause(change);
    case GroupChange::Kind::regrouped:
      if (is_joined(change)) return shortly_listed(names_of(change.before)) + " become one fused operator";
      if (is_split(change))
        return fmt::format("fused operator {} is no longer formed: {} stand by themselves", change.before[0].name,
                           shortly_listed(names_of(change.after)));
      return fmt::format("{} instead of {}", listed_by_operators(change.after), listed_by_operators(change.before));
    case GroupChange::Kind::only_before: return shortly_listed(names_of(change.before)) + " is gone";
    case GroupChange::Kind::only_after: return shortly_listed(names_of(change.after)) + " is new";
    case GroupChange::Kind::same: return "";
  }
  return "";
}

/// A change with what it weighs: cycles gained, or DMA bytes where these tell more of the whole difference.
struct Told {
  std::string words;
  double gained = 0;
};

/// The heaviest first; those that go with the whole difference before those that go against it.
std::vector<Told> ranked_changes(const PlanDiff& diff) {
  const PlanNumbers& x = diff.before.totals;
  const PlanNumbers& y = diff.after.totals;
  const bool by_bytes = std::abs(bytes_part(x, y)) > std::abs(part_of(x.seconds, y.seconds));
  const auto gained = [&](const PlanNumbers& before, const PlanNumbers& after) {
    return by_bytes ? static_cast<double>(before.bytes - after.bytes)
                    : before.seconds - after.seconds;  // clocks may differ
  };
  const double whole = gained(x, y);
  std::vector<Told> told;
  for (const GroupChange& change : diff.groups) {
    if (std::string words = clause(change); !words.empty())
      told.push_back({std::move(words), gained(change.numbers_before, change.numbers_after)});
  }
  std::stable_sort(told.begin(), told.end(), [&](const Told& a, const Told& b) {
    const bool a_goes = a.gained * whole > 0;
    const bool b_goes = b.gained * whole > 0;
    if (a_goes != b_goes) return a_goes;
    return std::abs(a.gained) > std::abs(b.gained);
  });
  return told;
}

}  // namespace

std::string gains_text(const PlanNumbers& before, const PlanNumbers& after) {
  std::vector<std::string> parts;
  if (std::abs(part_of(before.seconds, after.seconds)) >= least_told)
    parts.push_back(speed_text(before.seconds, after.seconds));
  if (const double part = bytes_part(before, after); std::abs(part) >= least_told) {
    const double ratio = part + 1;
    parts.push_back(ratio >= 2
                        ? fmt::format("{:.2f} times the DMA bytes", ratio)
                        : fmt::format("{} {} DMA bytes", percent_text(std::abs(part)), part < 0 ? "fewer" : "more"));
  }
  return parts.empty() ? "" : listed(parts);
}

std::string change_words(const PlanDiff& diff) {
  const std::vector<Told> told = ranked_changes(diff);
  std::vector<std::string> words;
  for (const Told& change : told) {
    if (words.size() == max_told) break;
    words.push_back(change.words);
  }
  if (told.size() > words.size()) {
    const std::size_t more = told.size() - words.size();
    words.push_back(fmt::format("{} more {} planned otherwise", more, more == 1 ? "is" : "are"));
  }
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string step_words(const PlanDiff& diff, const std::string& before, const std::string& after) {
  const std::string gains = gains_text(diff.before.totals, diff.after.totals);
  const std::string changes = change_words(diff);
  return fmt::format("at {} {} {}: {}", after, gains.empty() ? "as at" : gains + " than at", before,
                     changes.empty() ? "planned alike" : changes);
}

}  // namespace stowage
