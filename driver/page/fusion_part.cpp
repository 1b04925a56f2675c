// SPDX-License-Identifier: Apache-2.0
// The page's part about fusion: strategies, candidates, refusals.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "core/quoting.h"
#include "driver/page/page_parts.h"
#include "fusion/group.h"

namespace stowage {

namespace {

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

std::string fusion_part(const Compilation& compilation) {
  const FusionRecord& record = compilation.fusion;
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
    std::vector<const CandidateRecord*> all;
    for (const CandidateRecord& candidate : record.candidates) all.push_back(&candidate);
    html += fmt::format("<details><summary>All {} candidate groups, and what became of them</summary>\n{}</details>\n",
                        all.size(), candidates_table(compilation.program.fused.graph, record, all));
  }
  const std::string decisions = decisions_table(compilation.trace, "", is_about_fusion);
  if (!decisions.empty()) {
    html += "<details><summary>All decisions, in the order in which they fell</summary>\n" + decisions + "</details>\n";
  }
  return html;
}

std::string alternatives_part(const Compilation& compilation, const FusedOperator& group) {
  std::vector<const CandidateRecord*> others;
  for (const CandidateRecord& candidate : compilation.fusion.candidates) {
    const bool shares = std::any_of(candidate.operators.begin(), candidate.operators.end(), [&](OpId op) {
      return std::find(group.operators.begin(), group.operators.end(), op) != group.operators.end();
    });
    if (shares && candidate.fate != CandidateFate::chosen) others.push_back(&candidate);
  }
  if (others.empty()) return "";
  return "<h3>Other groups of these operators</h3>\n" +
         candidates_table(compilation.program.fused.graph, compilation.fusion, others);
}

}  // namespace stowage
