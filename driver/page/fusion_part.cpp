// SPDX-License-Identifier: Apache-2.0
// The page's part about fusion: strategies, candidates, refusals.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "core/quoting.h"
#include "driver/page/page_parts.h"
#include "fusion/groups/group.h"

namespace stowage {

namespace {

/// What a part of a page that is not whole is about.
constexpr const char* of_those = "those around the fused operators that are told in full";

/// What became of a candidate, with reasons and numbers.
std::string fate_text(const Graph& graph, const FusionRecord& record, const CandidateRecord& candidate) {
  std::string html = escaped(std::string(name_of(candidate.fate)));
  for (const Decision& refusal : candidate.refusals) {
    html += fmt::format("<br/>{}: {}", escaped(refusal.rule), escaped(refusal.reason));
  }
  if (!candidate.outbid_by.empty()) {
    std::vector<std::string> winners;
    for (const std::size_t winner : candidate.outbid_by) {
      winners.push_back(names_of(graph, record.candidates.at(winner).operators));
    }
    html += escaped(fmt::format(" by {}", fmt::join(winners, "; ")));
  }
  if (candidate.loss) {
    html += *candidate.loss >= 0 ? fmt::format(": choosing it costs {} cycles more", grouped_digits(*candidate.loss))
                                 : fmt::format(": choosing it would save {} cycles", grouped_digits(-*candidate.loss));
  }
  return html;
}

std::string candidates_table(const Graph& graph, const FusionRecord& record,
                             const std::vector<const CandidateRecord*>& candidates) {
  std::string html =
      "<div class=\"scroll\"><table class=\"sortable\"><thead><tr><th>operators</th><th>template</th>"
      "<th class=\"number\">cycles</th><th>fate</th></tr></thead><tbody>\n";
  for (const CandidateRecord* candidate : candidates) {
    html += fmt::format(
        "<tr><td>{}</td><td>{}</td>{}<td{}>{}</td></tr>\n", escaped(names_of(graph, candidate->operators)),
        escaped(fmt::format("{}", fmt::join(candidate->templates, ", "))),
        number_cell(candidate->cycles,
                    candidate->fate == CandidateFate::refused ? "" : grouped_digits(candidate->cycles)),
        candidate->fate == CandidateFate::refused ? " class=\"refused\"" : "", fate_text(graph, record, *candidate));
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace

std::string fusion_part(const PageScope& scope) {
  const FusionRecord& record = scope.compilation().fusion;
  std::string html = "<h2 id=\"fusion\">Fusion</h2>\n";
  if (!record.totals.empty()) {
    html += fmt::format("<p>What strategies choose, by the {}:</p>\n",
                        record.costed ? "cycles of the candidate groups" : "number of groups");
    html +=
        "<div class=\"scroll\"><table class=\"sortable\"><thead><tr><th>strategy</th><th class=\"number\">cycles</th>"
        "<th class=\"number\">groups</th></tr></thead><tbody>\n";
    for (const StrategyTotal& total : record.totals) {
      html += fmt::format("<tr><td>{}</td>{}{}</tr>\n", escaped(total.strategy),
                          number_cell(total.cycles, grouped_digits(total.cycles)),
                          number_cell(total.groups, grouped_digits(total.groups)));
    }
    html += "</tbody></table></div>\n";
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
                        candidates_table(scope.program().fused.graph, record, shown));
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
  return "<h3>Other groups of these operators</h3>\n" +
         candidates_table(scope.program().fused.graph, scope.compilation().fusion, others);
}

}  // namespace stowage
