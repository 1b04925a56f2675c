// SPDX-License-Identifier: Apache-2.0
#include "inspector/fusion/candidates.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "fusion/groups/group.h"

namespace stowage::inspector {

namespace {

std::string holders_text(const LoadedPlan& plan, const CandidateRecord& candidate) {
  std::vector<std::string> texts;
  for (const std::size_t holder : candidate.outbid_by) {
    const CandidateRecord& winner = plan.compilation.fusion.candidates[holder];
    texts.push_back(fmt::format("{} ({})", names_of(plan.graph(), winner.operators), grouped_digits(winner.cycles)));
  }
  return fmt::format("outbid by {}", fmt::join(texts, ", "));
}

std::string reason_text(const LoadedPlan& plan, const CandidateRecord& candidate) {
  if (candidate.fate == CandidateFate::outbid) return holders_text(plan, candidate);
  std::vector<std::string> texts;
  for (const Decision& refusal : candidate.refusals) texts.push_back(refusal.rule + ": " + refusal.reason);
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace

std::vector<OpId> operators_at(const LoadedPlan& plan, const Subject& subject) {
  if (subject.op >= 0) return {OpId(static_cast<std::size_t>(subject.op))};
  const StepFacts* step = plan.step(subject.step);
  return step != nullptr ? step->step->group.operators : std::vector<OpId>{};
}

Subject subject_of_candidate(const LoadedPlan& plan, std::size_t candidate) {
  const CandidateRecord& record = plan.compilation.fusion.candidates[candidate];
  const OpId first = record.operators.front();
  const StepId step = plan.step_of_operator[first];
  return record.fate == CandidateFate::chosen ? step_subject(step) : op_subject(step, static_cast<int>(first.index()));
}

Table candidates_table(const LoadedPlan& plan, const CandidateFilter& filter) {
  const FusionRecord& record = plan.compilation.fusion;
  const char* cost =
      record.costed ? "predicted by planning the group" : "there was no cost model: every group counts 1";
  Table table;
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
  const std::vector<OpId> around = operators_at(plan, filter.around);
  const std::int64_t whole = record.totals.empty() ? 0 : record.totals.front().cycles;
  for (std::size_t c = 0; c < record.candidates.size(); ++c) {
    const CandidateRecord& candidate = record.candidates[c];
    if (filter.fate && candidate.fate != *filter.fate) continue;
    if (!around.empty() && !share_operators(candidate.operators, around)) continue;
    Row row;
    row.subject = subject_of_candidate(plan, c);
    const bool costs = candidate.fate != CandidateFate::refused;
    const auto cost_cell = [&](bool there, auto value) { return there ? Cell(value) : Cell(); };
    row.cells = {static_cast<std::int64_t>(c),
                 std::string(name_of(candidate.fate)),
                 names_of(plan.graph(), candidate.operators),
                 cost_cell(costs, candidate.cycles),
                 cost_cell(candidate.loss.has_value(), candidate.loss.value_or(0)),
                 cost_cell(costs && whole > 0, static_cast<double>(candidate.cycles) /
                                                   static_cast<double>(std::max<std::int64_t>(1, whole))),
                 fmt::format("{}", fmt::join(candidate.templates, ", ")),
                 reason_text(plan, candidate),
                 candidate.refusals.size() == 1 ? candidate.refusals.front().flip : std::string()};
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<OpId> pair_to_ask(const LoadedPlan& plan, const Subject& before, const Subject& now) {
  if (before.op >= 0 && now.op >= 0 && before.op != now.op) {
    return {operators_at(plan, before).front(), operators_at(plan, now).front()};
  }
  const std::vector<OpId> group = operators_at(plan, {.step = now.step});
  if (group.empty()) return {};
  const Graph& graph = plan.graph();
  const auto outside = [&](OpId op) { return std::find(group.begin(), group.end(), op) == group.end(); };
  const auto reader_of = [&](OpId op) -> std::optional<OpId> {
    for (const OpId reader : readers_of(graph, op)) {
      if (outside(reader)) return reader;
    }
    return std::nullopt;
  };
  for (const OpId op : {operators_at(plan, now).front(), group.back()}) {
    if (const auto reader = reader_of(op)) return {op, *reader};
  }
  for (const auto& input : graph.op(group.front()).inputs) {
    const auto producer = input ? graph.tensor(*input).producer : std::nullopt;
    if (producer && outside(*producer)) return {*producer, group.front()};
  }
  return {};
}

}  // namespace stowage::inspector
