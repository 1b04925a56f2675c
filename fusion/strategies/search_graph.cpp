// SPDX-License-Identifier: Apache-2.0
#include "fusion/strategies/search_graph.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fusion/groups/group.h"

namespace stowage {

SearchGraphWriter::SearchGraphWriter(const CandidateSet& set, std::string name)
    : set_(set), executed_(set.single.size(), false) {
  graph_.name = std::move(name);
  add_node("start", 0, true);
}

std::size_t SearchGraphWriter::add_node(std::string label, std::int64_t cycles, bool on_path) {
  graph_.nodes.push_back({std::move(label), cycles, on_path});
  return graph_.nodes.size() - 1;
}

/// The results that somebody still waits for, once `executed` are computed.
std::string SearchGraphWriter::label_of(const std::vector<OpId>& executed) const {
  const Graph& graph = set_.facts.graph;
  std::vector<std::string> waiting;
  for (const OpId op : executed) {
    for (const TensorId output : outputs_of(graph.op(op))) {
      const GraphTensor& result = graph.tensor(output);
      const bool read_later = std::any_of(result.consumers.begin(), result.consumers.end(),
                                          [&](OpId reader) { return !executed_[reader.index()]; });
      if (read_later || result.is_output) waiting.push_back(result.name);
    }
  }
  return waiting.size() <= 4 ? fmt::format("{}", fmt::join(waiting, ", "))
                             : fmt::format("{} and {} more", waiting[0], waiting.size() - 1);
}

namespace {

/// Candidates of a segment, by place among them, whose operands are there and whose members are not: kept up with what
/// is executed, so that a step of a long chain does not look at all of them.
class ReadyCandidates {
 public:
  ReadyCandidates(const CandidateSet& set, const std::vector<OpId>& operators,
                  const std::vector<std::size_t>& candidates)
      : set_(set),
        left_(operators.begin(), operators.end()),
        waiting_(candidates.size(), 0),
        gone_(candidates.size(), false) {
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      const FusedOperator& group = set.of(candidates[k]).group;
      for (const TensorId input : group.inputs) {
        const auto& producer = set.facts.graph.tensor(input).producer;
        if (!producer || !left_.contains(*producer)) continue;
        reading_[*producer].push_back(k);
        ++waiting_[k];
      }
      for (const OpId op : group.operators) holding_[op].push_back(k);
      if (waiting_[k] == 0) now_.insert(k);
    }
  }

  [[nodiscard]] const std::set<std::size_t>& now() const { return now_; }

  /// Of any group, also one that is none of the candidates.
  [[nodiscard]] bool is_ready(const FusedOperator& group) const {
    return std::all_of(group.operators.begin(), group.operators.end(), [&](OpId op) { return left_.contains(op); }) &&
           std::none_of(group.inputs.begin(), group.inputs.end(), [&](TensorId input) {
             const auto& producer = set_.facts.graph.tensor(input).producer;
             return producer && left_.contains(*producer);
           });
  }

  void execute(const std::vector<OpId>& operators) {
    for (const OpId op : operators) {
      left_.erase(op);
      for (const std::size_t k : holding_[op]) {
        gone_[k] = true;
        now_.erase(k);
      }
    }
    for (const OpId op : operators) {
      for (const std::size_t k : reading_[op]) {
        if (--waiting_[k] == 0 && !gone_[k]) now_.insert(k);
      }
    }
  }

 private:
  const CandidateSet& set_;
  std::set<OpId> left_;               ///< operators of the segment that are not executed
  std::vector<std::size_t> waiting_;  ///< for so many operands
  std::vector<bool> gone_;            ///< some member is executed
  std::map<OpId, std::vector<std::size_t>> reading_, holding_;
  std::set<std::size_t> now_;
};

}  // namespace

void SearchGraphWriter::add_segment(const std::vector<OpId>& operators, const std::vector<std::size_t>& candidates,
                                    std::vector<std::size_t> choice) {
  if (graph_.edges.size() >= max_search_edges) {
    graph_.nodes_left_out += static_cast<std::int64_t>(choice.size());
    return;
  }
  ReadyCandidates ready(set_, operators, candidates);
  const auto is_ready = [&](std::size_t c) { return ready.is_ready(set_.of(c).group); };
  std::vector<OpId> done;
  // States beside the path by what they hold, so that two ways to one state meet; those on the path are met later.
  std::map<std::vector<OpId>, std::size_t> known;
  const auto state_after = [&](const std::vector<OpId>& held, std::size_t c) {
    std::vector<OpId> after = held;
    after.insert(after.end(), set_.of(c).group.operators.begin(), set_.of(c).group.operators.end());
    std::sort(after.begin(), after.end());
    return after;
  };
  while (!choice.empty()) {
    if (graph_.edges.size() >= max_search_edges) {  // a long segment would take quadratic time and memory
      graph_.nodes_left_out += static_cast<std::int64_t>(choice.size());
      return;
    }
    const auto next = std::find_if(choice.begin(), choice.end(), is_ready);
    check(next != choice.end(), "a choice that cannot be executed");
    const std::size_t taken = *next;
    choice.erase(next);
    const std::size_t from = last_;
    const std::int64_t so_far = graph_.nodes[from].best_cycles.value_or(0);
    const auto edge_to = [&](std::size_t c, bool on_path) {
      const std::vector<OpId> after = state_after(done, c);
      auto [node, is_new] = known.try_emplace(after, graph_.nodes.size());
      const std::int64_t cycles = so_far + set_.cycles(c);
      if (is_new) {
        for (const OpId op : set_.of(c).group.operators) executed_[op.index()] = true;
        add_node(label_of(after), cycles, on_path);
        for (const OpId op : set_.of(c).group.operators) executed_[op.index()] = false;
      }
      SearchGraph::Node& target = graph_.nodes[node->second];
      target.best_cycles = std::min(target.best_cycles.value_or(cycles), cycles);
      target.on_path = target.on_path || on_path;
      graph_.edges.push_back({from, node->second, c, set_.cycles(c), on_path});
      return node->second;
    };
    for (const std::size_t k : ready.now()) {
      if (candidates[k] != taken) edge_to(candidates[k], false);
    }
    last_ = edge_to(taken, true);
    done = state_after(done, taken);
    for (const OpId op : set_.of(taken).group.operators) executed_[op.index()] = true;
    ready.execute(set_.of(taken).group.operators);
  }
}

SearchGraph SearchGraphWriter::finish() && { return std::move(graph_); }

}  // namespace stowage
