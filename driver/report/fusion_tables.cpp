// SPDX-License-Identifier: Apache-2.0
#include "driver/report/fusion_tables.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/check.h"
#include "core/number_text.h"
#include "fusion/groups/group.h"

namespace stowage {

namespace {

Cell cell_of(const std::optional<std::int64_t>& number) { return number ? Cell(*number) : Cell(); }

/// Which rules refuse a candidate, or which groups were chosen in its place.
std::string why_text(const Graph& graph, const FusionRecord& record, const CandidateRecord& candidate) {
  std::vector<std::string> texts;
  if (candidate.fate == CandidateFate::outbid) {
    for (const std::size_t holder : candidate.outbid_by) {
      const CandidateRecord& winner = record.candidates.at(holder);
      texts.push_back(fmt::format("{} ({})", names_of(graph, winner.operators), grouped_digits(winner.cycles)));
    }
    return fmt::format("outbid by {}", fmt::join(texts, ", "));
  }
  for (const Decision& refusal : candidate.refusals) texts.push_back(refusal.rule + ": " + refusal.reason);
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace

PlanTable candidates_table(const Compilation& compilation, std::span<const CandidateRecord* const> candidates) {
  const FusionRecord& record = compilation.fusion;
  const Graph& graph = compilation.program.fused.graph;
  const char* cost =
      record.costed ? "predicted by planning the group" : "there was no cost model: every group counts 1";
  PlanTable table;
  table.title = "Candidate groups";
  table.columns = {
      keyed("number", "#", ColumnKind::count, "in the order in which strategy greedy asks; operators alone come last"),
      keyed("fate", "fate", ColumnKind::text,
            "chosen; refused by rules; or outbid: allowed, but other groups have its operators"),
      keyed("operators", "operators", ColumnKind::text, "of the group, in topological order"),
      keyed("cycles", "cycles", ColumnKind::cycles, cost),
      keyed("loss", "loss", ColumnKind::cycles,
            "of outbid ones: what the network would take more (negative: less) with this group in place of those that "
            "outbid it, the rest of their operators grouped as well as possible"),
      keyed("share", "share", ColumnKind::share, "of the cycles of all chosen groups"),
      keyed("template", "template", ColumnKind::text,
            "all templates that allow it; of a refused one the first that matched"),
      keyed("why", "why", ColumnKind::text,
            "every rule that refuses it, with its numbers; or the groups that were chosen instead"),
      keyed("flip", "what would change it", ColumnKind::text,
            "where one rule alone refuses it: the smallest change that lifts it"),
  };
  const std::int64_t whole = record.totals.empty() ? 0 : record.totals.front().cycles;
  for (const CandidateRecord* candidate : candidates) {
    const auto number = candidate - record.candidates.data();
    check(number >= 0 && number < std::ssize(record.candidates), "a candidate of another record");
    const bool has_cost = candidate->fate != CandidateFate::refused;
    PlanRow row;
    row.cells = {
        static_cast<std::int64_t>(number),
        std::string(name_of(candidate->fate)),
        names_of(graph, candidate->operators),
        has_cost ? Cell(candidate->cycles) : Cell(),
        cell_of(candidate->loss),
        has_cost && whole > 0 ? Cell(static_cast<double>(candidate->cycles) / static_cast<double>(whole)) : Cell(),
        fmt::format("{}", fmt::join(candidate->templates, ", ")),
        why_text(graph, record, *candidate),
        candidate->refusals.size() == 1 ? candidate->refusals.front().flip : std::string()};
    table.rows.push_back(std::move(row));
  }
  return table;
}

PlanTable strategies_table(std::span<const StrategyNumbers> strategies, std::string cycles) {
  PlanTable table;
  table.title = "Strategies";
  table.columns = {
      keyed("strategy", "strategy", ColumnKind::text, "how groups are chosen among the candidates (docs/fusion.md)"),
      keyed("groups", "groups", ColumnKind::count, "fused operators, views included"),
      keyed("kernels", "kernels", ColumnKind::count, "fused operators that are launched"),
      keyed("cycles", "cycles", ColumnKind::cycles, std::move(cycles)),
      keyed("over_best", "over the best", ColumnKind::share, "cycles more than the best strategy's, divided by those"),
      keyed("dma_bytes", "DMA bytes", ColumnKind::bytes, "moved between main memory and LDM, all cores"),
      keyed("differs", "differs", ColumnKind::count,
            "places where its groups are others than the plan's; listed below"),
      keyed("remark", "remark", ColumnKind::text, "what is known of the result"),
  };
  std::optional<std::int64_t> best;
  for (const StrategyNumbers& one : strategies) {
    if (one.cycles) best = std::min(best.value_or(*one.cycles), *one.cycles);
  }
  for (const StrategyNumbers& one : strategies) {
    Cell over;
    if (one.cycles) over = *best > 0 ? static_cast<double>(*one.cycles - *best) / static_cast<double>(*best) : 0.0;
    PlanRow row;
    row.cells = {one.strategy, one.groups,         cell_of(one.kernels), cell_of(one.cycles),
                 over,         cell_of(one.bytes), cell_of(one.differs), one.remark};
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace stowage
