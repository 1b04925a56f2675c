// SPDX-License-Identifier: Apache-2.0
#include "driver/page/page_scope.h"

#include <algorithm>

#include "driver/report/details.h"

namespace stowage {

PageScope::PageScope(const Compilation& compilation, std::size_t details, const std::stop_token& stop)
    : compilation_(compilation),
      in_full_(steps_in_full(compilation.program, details)),
      count_(static_cast<std::size_t>(std::count(in_full_.begin(), in_full_.end(), true))),
      candidates_of_(compilation.program.fused.graph.operators().size()) {
  if (compilation.backend != nullptr) {
    Diagnostics ignored;  // without a simulator the page is silent about it
    auto simulated = compilation.backend->simulate(compilation.program, DmaOrder::shared, {ignored, stop});
    if (simulated) simulated_ = *std::move(simulated);
  }
  const Graph& graph = program().fused.graph;
  for (const StepId i : in_full_.ids()) {
    if (!in_full_[i]) continue;
    const FusedOperator& group = program().steps[i].group;
    subjects_.insert(group.name);
    for (const OpId op : group.operators) subjects_.insert(graph.op(op).name);
    tensors_.insert(group.inputs.begin(), group.inputs.end());
    for (const auto* stacks : {&group.parameters, &group.results}) {
      for (const TensorStack& stack : *stacks) tensors_.insert(stack.parts.begin(), stack.parts.end());
    }
    for (const TensorId tensor : stored_by(group)) tensors_.insert(tensor);
  }
  for (const TraceRecord& record : compilation.trace.records) records_[record.subject].push_back(&record);
  const std::vector<CandidateRecord>& candidates = compilation.fusion.candidates;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    for (const OpId op : candidates[i].operators) candidates_of_[op.index()].push_back(i);
  }
}

const std::vector<const TraceRecord*>& PageScope::records_about(std::string_view subject) const {
  static const std::vector<const TraceRecord*> none;
  const auto found = records_.find(subject);
  return found != records_.end() ? found->second : none;
}

std::set<std::size_t> PageScope::indices_around(const FusedOperator& group) const {
  std::set<std::size_t> indices;
  for (const OpId op : group.operators) {
    indices.insert(candidates_of_[op.index()].begin(), candidates_of_[op.index()].end());
  }
  return indices;
}

std::vector<const CandidateRecord*> PageScope::candidates_around(const FusedOperator& group) const {
  std::vector<const CandidateRecord*> found;
  for (const std::size_t i : indices_around(group)) found.push_back(&compilation_.fusion.candidates[i]);
  return found;
}

std::vector<const CandidateRecord*> PageScope::candidates() const {
  std::set<std::size_t> indices;
  for (const StepId i : in_full_.ids()) {
    if (in_full_[i]) indices.merge(indices_around(program().steps[i].group));
  }
  std::vector<const CandidateRecord*> found;
  for (const std::size_t i : indices) found.push_back(&compilation_.fusion.candidates[i]);
  return found;
}

}  // namespace stowage
