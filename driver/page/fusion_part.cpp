// SPDX-License-Identifier: Apache-2.0
// The page's part about fusion: strategies, candidates, refusals.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "core/quoting.h"
#include "driver/page/page_parts.h"
#include "driver/report/fusion_tables.h"
#include "fusion/groups/group.h"

namespace stowage {

namespace {

/// What a part of a page that is not whole is about.
constexpr const char* of_those = "those around the fused operators that are told in full";

std::string candidates_part(const PageScope& scope, const std::vector<const CandidateRecord*>& candidates) {
  const PlanTable table = candidates_table(scope.compilation(), candidates);
  return html_table(table, {"operators", "template", "cycles", "fate", "loss", "why"},
                    [&](std::size_t row) { return candidates[row]->fate == CandidateFate::refused ? "refused" : ""; });
}

std::string strategies_part(const FusionRecord& record) {
  const std::string by = record.costed ? "cycles of the candidate groups" : "number of groups";
  std::vector<StrategyNumbers> strategies;
  for (const StrategyTotal& total : record.totals)
    strategies.push_back({.strategy = total.strategy, .groups = total.groups, .cycles = total.cycles});
  return fmt::format("<p>What strategies choose, by the {}:</p>\n", by) +
         html_table(strategies_table(strategies, "by the " + by), {"strategy", "cycles", "groups"},
                    [](std::size_t) { return ""; });
}

}  // namespace

std::string fusion_part(const PageScope& scope) {
  const FusionRecord& record = scope.compilation().fusion;
  std::string html = "<h2 id=\"fusion\">Fusion</h2>\n";
  if (!record.totals.empty()) {
    html += strategies_part(record);
    if (record.search) {
      const std::int64_t cycles = record.totals.front().cycles;
      html += fmt::format("<p>{} cycles: {}.</p>\n", grouped_digits(cycles), escaped(proof_text(record, cycles)));
    }
  }
  for (const SearchLimit& limit : record.limits) html += fmt::format("<p>{}.</p>\n", escaped(text_of(limit)));
  if (!record.candidates.empty()) {
    const std::vector<const CandidateRecord*> shown = scope.candidates();
    const std::string which = scope.is_whole() ? fmt::format("All {} candidate groups", shown.size())
                                               : fmt::format("{} of {} candidate groups, {}", shown.size(),
                                                             record.candidates.size(), of_those);
    html += fmt::format("<details><summary>{}, and what became of them</summary>\n{}</details>\n", which,
                        candidates_part(scope, shown));
  }
  std::vector<const TraceRecord*> records;
  for (const TraceRecord& decision : scope.compilation().trace.records) {
    if (scope.has(decision)) records.push_back(&decision);
  }
  const std::string decisions = decisions_table(records, true, is_about_fusion);
  if (!decisions.empty()) {
    html += fmt::format("<details><summary>{}, in the order in which they fell</summary>\n{}</details>\n",
                        scope.is_whole() ? "All decisions" : fmt::format("Decisions, {}", of_those), decisions);
  }
  return html;
}

std::string alternatives_part(const PageScope& scope, const FusedOperator& group) {
  std::vector<const CandidateRecord*> others = scope.candidates_around(group);
  std::erase_if(others, [](const CandidateRecord* candidate) { return candidate->fate == CandidateFate::chosen; });
  if (others.empty()) return "";
  return "<h3>Other groups of these operators</h3>\n" + candidates_part(scope, others);
}

}  // namespace stowage
