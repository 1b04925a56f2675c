// SPDX-License-Identifier: Apache-2.0
#include "inspector/fusion/candidates.h"

#include <algorithm>

#include "driver/report/fusion_tables.h"
#include "fusion/groups/group.h"
#include "inspector/tables/placed.h"

namespace stowage::inspector {

std::vector<OpId> operators_at(const LoadedPlan& plan, const Subject& subject) {
  if (subject.op) return {*subject.op};
  const StepFacts* step = plan.step(subject.step);
  return step != nullptr ? step->step->group.operators : std::vector<OpId>{};
}

Subject subject_of_candidate(const LoadedPlan& plan, std::size_t candidate) {
  const CandidateRecord& record = plan.compilation.fusion.candidates[candidate];
  const OpId first = record.operators.front();
  const StepId step = plan.step_of_operator[first];
  return record.fate == CandidateFate::chosen ? step_subject(step) : op_subject(step, first);
}

Table candidates_table(const LoadedPlan& plan, const CandidateFilter& filter) {
  const std::vector<OpId> around = operators_at(plan, filter.around);
  const std::vector<CandidateRecord>& candidates = plan.compilation.fusion.candidates;
  std::vector<const CandidateRecord*> wanted;
  std::vector<Subject> subjects;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (filter.fate && candidates[c].fate != *filter.fate) continue;
    if (!around.empty() && !share_operators(candidates[c].operators, around)) continue;
    wanted.push_back(&candidates[c]);
    subjects.push_back(subject_of_candidate(plan, c));
  }
  Table table = placed(stowage::candidates_table(plan.compilation, wanted));
  for (std::size_t r = 0; r < table.rows.size(); ++r) table.rows[r].subject = subjects[r];
  return table;
}

std::vector<OpId> pair_to_ask(const LoadedPlan& plan, const Subject& before, const Subject& now) {
  if (before.op && now.op && before.op != now.op) {
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
