// SPDX-License-Identifier: Apache-2.0
// A record after the groups were planned with schedules that a person fixed: one number a group, and everything that is
// counted from it.
#include <algorithm>
#include <catch2/catch.hpp>

#include "core/number_text.h"
#include "fusion/explain/record_as_planned.h"
#include "fusion/groups/group_cost.h"
#include "fusion/strategies/strategies.h"
#include "tests/fusion/brute_force.h"
#include "tests/fusion/net.h"
#include "tests/fusion/wired_net.h"

using namespace stowage;
using stowage::testing::Net;

namespace {

/// Every operator costs 1000, and 100 less for each other one in its group.
class JoiningPays : public GroupCost {
 public:
  [[nodiscard]] Answer cost(const Graph&, const FusedOperator& group) const override {
    const auto operators = static_cast<std::int64_t>(group.operators.size());
    return {Decision::allow(), operators * (1000 - 100 * (operators - 1))};
  }
};

FusionRecord record_of_join() {
  Net net("join");
  const TensorId x = net.input("x", {1, 4, 6, 6});
  const TensorId y = net.input("y", {1, 4, 6, 6});
  const Graph graph = net.done({net.op("Add", "add", {net.conv("left", x, 4), net.conv("right", y, 4)})});
  const JoiningPays cost;
  return fuse_graph(graph, built_in_templates(), &cost, *find_strategy("exact"), {}).record;
}

std::size_t chosen_in(const FusionRecord& record) {
  for (std::size_t c = 0; c < record.candidates.size(); ++c) {
    if (record.candidates[c].fate == CandidateFate::chosen) return c;
  }
  FAIL("nothing is chosen");
  return 0;
}

/// All that is counted from the candidates' cycles agrees with them.
void check_sums(const FusionRecord& record) {
  std::int64_t chosen = 0;
  for (const CandidateRecord& candidate : record.candidates) {
    if (candidate.fate == CandidateFate::chosen) chosen += candidate.cycles;
  }
  CHECK(record.totals.front().cycles == chosen);
  REQUIRE(record.graphs.size() == 1);
  const SearchGraph& graph = record.graphs.front();
  std::int64_t on_path = 0;
  for (const SearchGraph::Edge& edge : graph.edges) {
    on_path += edge.on_path ? edge.cycles : 0;
    CHECK(edge.cycles == record.candidates[edge.candidate].cycles);
    CHECK(*graph.nodes[edge.to].best_cycles <= *graph.nodes[edge.from].best_cycles + edge.cycles);
  }
  CHECK(on_path == chosen);
  REQUIRE(record.search);
  CHECK(record.search->lower_bound <= chosen);
  if (record.search->complete) CHECK(record.search->lower_bound == chosen);
}

}  // namespace

TEST_CASE("a record counts a group as it is planned in the end") {
  const FusionRecord before = record_of_join();
  const std::size_t c = chosen_in(before);
  check_sums(before);
  for (const std::int64_t change : {std::int64_t{1000}, std::int64_t{-1}, std::int64_t{0}}) {
    INFO(change);
    FusionRecord record = before;
    count_as_planned(record, {{before.candidates[c].operators, before.candidates[c].cycles + change}});
    check_sums(record);
    CHECK(record.candidates[c].cycles == before.candidates[c].cycles + change);
    CHECK(record.totals.front().cycles == before.totals.front().cycles + change);
    // A choice that a person made more expensive is not the best any more; a cheaper one still is.
    CHECK(record.search->complete == (change <= 0));
    CHECK(record.search->lower_bound == before.search->lower_bound + std::min<std::int64_t>(change, 0));
    int counted = 0;
    for (std::size_t i = 0; i < record.candidates.size(); ++i) {
      const CandidateRecord& now = record.candidates[i];
      if (i != c) CHECK(now.cycles == before.candidates[i].cycles);
      if (!now.loss) continue;
      const bool holds = std::find(now.outbid_by.begin(), now.outbid_by.end(), c) != now.outbid_by.end();
      CHECK(*now.loss == *before.candidates[i].loss - (holds ? change : 0));
      counted += holds ? 1 : 0;
    }
    CHECK(counted > 0);
    if (change == 0) CHECK(record == before);
    if (change > 0) {
      const std::string proof = proof_text(record, record.totals.front().cycles);
      CHECK(proof.starts_with("not proved with the schedules that are fixed: at most " + grouped_digits(1000) +
                              " cycles ("));
    }
  }
}
TEST_CASE("what the first kernel takes longer is in every partition, so that no choice changes") {
  const FusionRecord before = record_of_join();
  check_sums(before);
  const OpId first = before.candidates[chosen_in(before)].operators.front();
  FusionRecord record = before;
  count_first_launch(record, first, 28871);
  check_sums(record);
  CHECK(record.search->complete == before.search->complete);
  CHECK(record.search->lower_bound == before.search->lower_bound + 28871);
  for (std::size_t t = 0; t < record.totals.size(); ++t)
    CHECK(record.totals[t].cycles == before.totals[t].cycles + 28871);
  for (std::size_t c = 0; c < record.candidates.size(); ++c) {
    const CandidateRecord& now = record.candidates[c];
    const bool holds = std::find(now.operators.begin(), now.operators.end(), first) != now.operators.end();
    CHECK(now.cycles == before.candidates[c].cycles + (holds && now.fate != CandidateFate::refused ? 28871 : 0));
    CHECK(now.loss == before.candidates[c].loss);
  }
  for (std::size_t g = 0; g < record.graphs.size(); ++g) {
    // The cheapest ways, counted anew edge by edge.
    const SearchGraph& graph = record.graphs[g];
    std::vector<std::optional<std::int64_t>> best(graph.nodes.size());
    if (!best.empty()) best[0] = 0;
    for (const SearchGraph::Edge& edge : graph.edges) {
      if (best[edge.from])
        best[edge.to] =
            std::min(best[edge.to].value_or(*best[edge.from] + edge.cycles), *best[edge.from] + edge.cycles);
    }
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      if (best[n] && graph.nodes[n].best_cycles) CHECK(*graph.nodes[n].best_cycles == *best[n]);
    }
  }
  count_first_launch(record, first, -28871);
  CHECK(record == before);
}
