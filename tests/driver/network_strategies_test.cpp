// SPDX-License-Identifier: Apache-2.0
// What strategies make of the sample networks under each planner. `test_tool "[table]"` prints the tables of
// docs/fusion.md.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <iostream>
#include <map>

#include <fmt/format.h>

#include "core/number_text.h"
#include "core/onnx/import.h"
#include "driver/networks/networks.h"
#include "driver/session/session.h"
#include "fusion/facts/views.h"
#include "fusion/fold/fold_intrinsics.h"
#include "fusion/strategies/candidates.h"
#include "fusion/strategies/strategy.h"
#include "lowering/program/planned_cost.h"
#include "lowering/program/planners.h"
#include "lowering/program/program.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

struct StrategyRow {
  std::map<std::string, std::int64_t> cycles;  ///< by strategy
  std::size_t candidates = 0;                  ///< of more than one operator, allowed
  SearchSummary search;
};

StrategyRow row_of(const std::string& network, const std::string& planner, int cores = 64) {
  const Workplace here;
  Diagnostics diagnostics;
  REQUIRE(write_network(network, {}, "model.onnx", diagnostics));
  const auto graph = import_onnx("model.onnx", {}, diagnostics);
  const auto target = load_target("sw26010", std::vector{fmt::format("cores.count={}", cores)}, diagnostics);
  REQUIRE((graph && target));
  const PlannedGroupCost cost(*find_planner(planner), *target);
  const CandidateSet set =
      find_candidate_groups(place_tensors(fold_intrinsics(*graph, {}), {}, 4), built_in_templates(), &cost, {});
  StrategyRow row;
  row.candidates = static_cast<std::size_t>(std::count_if(
      set.candidates.begin(), set.candidates.end(),
      [](const CandidateGroup& candidate) { return candidate.allowed() && candidate.group.operators.size() > 1; }));
  for (const std::string& name : strategy_names()) {
    const Choice choice = find_strategy(name)->choose(set, {}, {});
    CHECK(is_executable(set, choice.candidates));
    row.cycles[name] = total_cycles(set, choice.candidates);
    if (choice.search) row.search = *choice.search;
  }
  return row;
}

/// Kernels, DMA bytes, DMA operations and cycles of what exact makes of a network, with or without branches.
std::array<std::int64_t, 4> totals_with(const Graph& graph, bool branches, const Planner& planner) {
  std::vector<FusionTemplate> templates = built_in_templates();
  if (!branches) std::erase_if(templates, [](const FusionTemplate& one) { return one.branches > 1; });
  Diagnostics diagnostics;
  const auto target = load_target("sw26010", {}, diagnostics);
  PlanChoices choices;
  const PlannedGroupCost cost(planner, *target, {0, {}, &choices});
  const FusedGraph fused = fuse_graph(graph, templates, &cost, *find_strategy("exact"), {}).fused;
  const auto program = plan_program(fused, {}, planner, *target, {}, diagnostics, {}, {}, 0, &choices);
  REQUIRE(program);
  const ProgramTotals totals = totals_of(*program);
  return {totals.kernels, totals.dma.bytes, totals.dma.operations, totals.cycles};
}

StrategyRow check_network(const std::string& network, const std::string& planner) {
  INFO(network << " planned by " << planner);
  const StrategyRow row = row_of(network, planner);
  for (const auto& [name, cycles] : row.cycles) {
    INFO(name);
    CHECK(row.cycles.at("exact") <= cycles);
  }
  CHECK(row.search.complete);
  CHECK(row.search.lower_bound == row.cycles.at("exact"));
  return row;
}

/// Than on half as many cores, where that is known. Exactly so of the price that the search makes least, which counts
/// lines that cores share as 2 % of an operator's cycles (tests/lowering/cost_decides_test.cpp).
void check_no_slower(const StrategyRow& row, const std::map<std::string, std::int64_t>& of_half, int cores) {
  for (const char* strategy : {"none", "exact"}) {
    INFO(strategy << ", " << cores << " cores");
    if (!of_half.empty()) CHECK(50 * row.cycles.at(strategy) <= 51 * of_half.at(strategy));
  }
}

}  // namespace

TEST_CASE("exact is never worse than another strategy on small sample networks") {
  for (const char* network : {"matmul", "vector", "lenet", "cifarnet", "mobilenet_v1", "mobilenet_v2", "googlenet"}) {
    check_network(network, "swtvm");
  }
}

TEST_CASE(
    "under planner searched no partition of small sample networks is slower on twice as many cores, or than "
    "published") {
  for (const char* network : {"matmul", "vector", "lenet", "cifarnet", "mobilenet_v2"}) {
    INFO(network);
    std::map<std::string, std::int64_t> of_fewer;
    for (const int cores : {16, 32}) {
      const StrategyRow row = row_of(network, "searched", cores);
      check_no_slower(row, of_fewer, cores);
      of_fewer = row.cycles;
    }
    const StrategyRow searched = check_network(network, "searched");
    check_no_slower(searched, of_fewer, 64);
    const StrategyRow published = row_of(network, "swtvm");
    CHECK(searched.cycles.at("none") <= published.cycles.at("none"));
    CHECK(searched.cycles.at("exact") <= published.cycles.at("exact"));
    CHECK(searched.candidates >= published.candidates);
  }
}

TEST_CASE("table of strategies and sample networks", "[.table]") {
  for (const std::string& planner : planner_names()) {
    std::cout << "planner " << planner << std::endl;
    for (const std::string& network : network_names()) {
      const StrategyRow row = row_of(network, planner);
      const std::int64_t exact = row.cycles.at("exact");
      std::string line = fmt::format("| {} | {} |", network, row.candidates);
      std::int64_t best_other = row.cycles.at("none");
      for (const char* name : {"none", "greedy", "tvm", "dnnvm", "exact"}) {
        line += fmt::format(" {} |", grouped_digits(row.cycles.at(name)));
        if (std::string(name) != "exact") best_other = std::min(best_other, row.cycles.at(name));
      }
      std::cout << line
                << fmt::format(" {:.2f} % | {:.2f} % |",
                               100.0 * static_cast<double>(row.cycles.at("greedy") - exact) /
                                   static_cast<double>(row.cycles.at("greedy")),
                               100.0 * static_cast<double>(best_other - exact) / static_cast<double>(best_other))
                << (row.search.complete ? "" : " (not proved)") << std::endl;
      for (const auto& [name, cycles] : row.cycles) CHECK(exact <= cycles);
    }
  }
}

TEST_CASE("table of branches", "[.table]") {
  for (const std::string network : {"googlenet", "bert_base", "resnet50"}) {
    const Workplace here;
    Diagnostics diagnostics;
    REQUIRE(write_network(network, {}, "model.onnx", diagnostics));
    const auto imported = import_onnx("model.onnx", {}, diagnostics);
    REQUIRE(imported);
    const Graph graph = place_tensors(fold_intrinsics(*imported, {}), {}, 4);
    for (const std::string& planner : planner_names()) {
      const auto without = totals_with(graph, false, *find_planner(planner));
      const auto with = totals_with(graph, true, *find_planner(planner));
      std::string line = fmt::format("| {} | {} |", network, planner);
      for (std::size_t i = 0; i < with.size(); ++i) {
        line += fmt::format(" {} | {} |", grouped_digits(without[i]), grouped_digits(with[i]));
      }
      std::cout << line
                << fmt::format(" {:.1f} % |",
                               100.0 * static_cast<double>(without[3] - with[3]) / static_cast<double>(without[3]))
                << std::endl;
      CHECK(with[3] <= without[3]);
    }
  }
}

}  // namespace stowage::test
