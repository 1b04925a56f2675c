// SPDX-License-Identifier: Apache-2.0
// The smallest change that would lift a refusal of lowering is a true one: made as a person would make it, with --set,
// the group is allowed, and a little less of it is refused.
#include "lowering/smallest_change.h"

#include <catch2/catch.hpp>
#include <map>
#include <regex>
#include <tuple>

#include "fusion/candidates.h"
#include "fusion/group.h"
#include "fusion/strategy.h"
#include "fusion/why_not.h"
#include "lowering/planned_cost.h"
#include "tests/fusion/net.h"

using namespace stowage;
using stowage::testing::Net;

namespace {

Target target_with(const std::vector<std::string>& settings) {
  Diagnostics diagnostics;
  const auto target = load_target("sw26010", settings, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(target);
  return *target;
}

/// Two convolutions with large windows on a small image, and a pool of everything behind a convolution.
Graph network(std::int64_t features, std::int64_t extent, std::int64_t kernel) {
  Net net("net");
  const TensorId x = net.input("x", {1, features, extent, extent});
  const TensorId first = net.conv("first", x, features, kernel);
  const TensorId second = net.conv("second", first, features, kernel);
  return net.done({net.op("GlobalAveragePool", "pool", {second})});
}

/// "ldm_bytes=147968" and "cores=24" of a change in words.
std::vector<std::string> settings_in(const std::string& text) {
  std::vector<std::string> settings;
  const std::regex setting("target\\.([a-z_]+) = ([0-9]+)");
  for (auto at = std::sregex_iterator(text.begin(), text.end(), setting); at != std::sregex_iterator(); ++at) {
    settings.push_back((*at)[1].str() + "=" + (*at)[2].str());
  }
  return settings;
}

}  // namespace

TEST_CASE("a change that lifts a refusal of lowering lifts it, and a smaller one does not") {
  std::map<std::string, int> changes;  // by rule
  std::map<std::string, int> refused;
  for (const auto& [features, extent, kernel] :
       {std::tuple(4, 8, 3), std::tuple(8, 8, 5), std::tuple(2, 12, 7), std::tuple(32, 8, 3), std::tuple(64, 14, 3)}) {
    const Graph graph = network(features, extent, kernel);
    for (const std::vector<std::string>& settings : {std::vector<std::string>{},
                                                     {"ldm_bytes=128", "ldm_reserved=0", "cores=1"},
                                                     {"ldm_bytes=2048", "ldm_reserved=0"},
                                                     {"ldm_bytes=8192", "ldm_reserved=0"}}) {
      const Target target = target_with(settings);
      const Planner& planner = *find_planner("swtvm");
      const PlannedGroupCost cost(planner, target);
      const CandidateSet set = find_candidate_groups(graph, built_in_templates(), &cost, {});
      for (const CandidateGroup& candidate : set.candidates) {
        if (candidate.refusals.size() != 1 || candidate.group.operators.size() < 2) continue;
        const std::string& rule = candidate.refusals.front().rule;
        if (rule != "recomputation" && rule != "lost-parallelism" && rule != "ldm-capacity") continue;
        ++refused[rule];
        const std::string text = cost.change_that_allows(graph, candidate.group);
        INFO(names_of(graph, candidate.group.operators) << ": " << candidate.refusals.front().reason << ": " << text);
        const auto allows = [&](const Target& changed) {
          return PlannedGroupCost(planner, changed).cost(graph, candidate.group).decision.allowed;
        };
        REQUIRE_FALSE(allows(target));
        for (const std::string& setting : settings_in(text)) {
          ++changes[rule];
          std::vector<std::string> all = settings;
          all.push_back(setting);
          const Target better = target_with(all);
          CHECK(allows(better));
          Target less = better;
          if (better.cores == target.cores) {
            less.ldm_bytes -= target.ldm_alignment;
            CHECK_FALSE(allows(less));
          } else {
            for (less.cores = better.cores + 1; less.cores < target.cores; ++less.cores) CHECK_FALSE(allows(less));
          }
        }
      }
    }
  }
  for (const char* rule : {"recomputation", "lost-parallelism", "ldm-capacity"}) {
    INFO(rule << ": " << refused[rule] << " refused, " << changes[rule] << " changes");
    CHECK(changes[rule] > 0);
  }
}

TEST_CASE("what cannot be changed has no change") {
  const Target target = target_with({});
  CHECK(smallest_changes(target, [](const Target&) { return false; }).empty());
  CHECK(to_text(smallest_changes(target, [](const Target&) { return false; })).empty());
  // Of 64 KiB, in steps of 32 bytes; of 64 cores.
  const auto changes = smallest_changes(target, [](const Target& t) { return t.ldm_bytes >= 70000 || t.cores <= 24; });
  CHECK(to_text(changes) == "target.ldm_bytes = 70016 (4480 more), or target.cores = 24 (of 64)");
}

TEST_CASE("why not names the change that lifts a refusal of lowering") {
  const Graph graph = network(4, 8, 3);
  const Target target = target_with({});
  const PlannedGroupCost cost(*find_planner("swtvm"), target);
  const Fusion fusion = fuse_graph(graph, built_in_templates(), &cost, *find_strategy("greedy"), {});
  const std::vector<OpId> asked = {*graph.find_operator("second"), *graph.find_operator("pool")};
  const WhyNot answer = why_not(GraphFacts(graph), built_in_templates(), fusion.record, asked, &cost);
  CHECK(to_text(answer, graph, fusion.record) == R"(second + pool: refused
  second + pool (convolution_pool) breaks one rule:
    lost-parallelism: the group uses 4 cores, second by itself would use 64; at least 50 % of them are asked for
  what would change it: target.cores = 11 (of 64)
)");
}
