// SPDX-License-Identifier: Apache-2.0
// The smallest LDM that would lift a refusal of lowering is a true one: set as a person would set it, with --set, the
// group is allowed, and with a little less it is refused.
#include "lowering/program/smallest_ldm.h"

#include <catch2/catch.hpp>
#include <regex>
#include <tuple>

#include "fusion/explain/why_not.h"
#include "fusion/groups/group.h"
#include "fusion/strategies/candidates.h"
#include "fusion/strategies/strategy.h"
#include "lowering/program/planned_cost.h"
#include "lowering/program/planners.h"
#include "tests/fusion/net.h"

namespace stowage::smallest_ldm_test {

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

/// "ldm.bytes=147968" and "cores.count=24" of a change in words.
std::vector<std::string> settings_in(const std::string& text) {
  std::vector<std::string> settings;
  const std::regex setting("target\\.([a-z_.]+) = ([0-9]+)");
  for (auto at = std::sregex_iterator(text.begin(), text.end(), setting); at != std::sregex_iterator(); ++at) {
    settings.push_back((*at)[1].str() + "=" + (*at)[2].str());
  }
  return settings;
}

}  // namespace

TEST_CASE("the smallest LDM that lifts a refusal lifts it, and a little less does not") {
  int refused = 0;
  int changes = 0;
  for (const auto& [features, extent, kernel] :
       {std::tuple(4, 8, 3), std::tuple(8, 8, 5), std::tuple(2, 12, 7), std::tuple(32, 8, 3), std::tuple(64, 14, 3)}) {
    const Graph graph = network(features, extent, kernel);
    for (const std::vector<std::string>& settings : {std::vector<std::string>{},
                                                     {"ldm.bytes=128", "ldm.reserved=0", "cores.count=1"},
                                                     {"ldm.bytes=2048", "ldm.reserved=0"},
                                                     {"ldm.bytes=8192", "ldm.reserved=0"}}) {
      const Target target = target_with(settings);
      const Planner& planner = *find_planner("swtvm");
      const PlannedGroupCost cost(planner, target);
      const CandidateSet set = find_candidate_groups(graph, built_in_templates(), &cost, {});
      for (const CandidateGroup& candidate : set.candidates) {
        if (candidate.refusals.empty() || candidate.refusals.front().rule != "ldm-capacity") continue;
        ++refused;
        const std::string text = cost.change_that_allows(graph, candidate.group);
        INFO(names_of(graph, candidate.group.operators) << ": " << candidate.refusals.front().reason << ": " << text);
        const auto allows = [&](const Target& changed) {
          return PlannedGroupCost(planner, changed).cost(graph, candidate.group).decision.allowed;
        };
        REQUIRE_FALSE(allows(target));
        for (const std::string& setting : settings_in(text)) {
          ++changes;
          std::vector<std::string> all = settings;
          all.push_back(setting);
          Target changed = target_with(all);
          CHECK(allows(changed));
          changed.ldm.bytes -= target.ldm.alignment;
          CHECK_FALSE(allows(changed));
        }
      }
    }
  }
  INFO(refused << " refused, " << changes << " changes");
  CHECK(refused > 0);
  CHECK(changes > 0);
}

TEST_CASE("what more LDM does not lift has no change") {
  const Target target = target_with({});
  CHECK_FALSE(smallest_ldm(target, [](const Target&) { return false; }));
  // Of 64 KiB, in steps of 32 bytes.
  CHECK(smallest_ldm(target, [](const Target& t) { return t.ldm.bytes >= 70000; }) == 70016);
}

TEST_CASE("why not names the change that lifts a refusal of lowering, and what the plan of an outbid group does") {
  const auto answer = [](const Graph& graph, const Target& target,
                         const std::vector<std::string>& names = {"second", "pool"}) {
    const PlannedGroupCost cost(*find_planner("swtvm"), target);
    const Fusion fusion = fuse_graph(graph, built_in_templates(), &cost, *find_strategy("exact"), {});
    std::vector<OpId> asked;
    for (const std::string& name : names) asked.push_back(*graph.find_operator(name));
    return to_text(why_not(GraphFacts(graph), built_in_templates(), fusion.record, asked, &cost), graph, fusion.record);
  };
  CHECK(answer(network(4, 8, 3), target_with({})) ==
        "second + pool: they are together in second + pool (convolution_pool, 33832 cycles)\n");
  CHECK(answer(network(4, 8, 3), target_with({"ldm.bytes=168", "ldm.reserved=0"})) == R"(second + pool: outbid
  second + pool (convolution_pool, 256593 cycles) would be allowed; strategy exact chose instead:
    second (convolution, 45184 cycles)
    pool (single, 32118 cycles)
  in its place the program would take 179291 cycles more
  its plan uses 4 of 64 cores and computes 1.00 times the operations that are needed
)");
  // Two convolutions with a window of 7 x 7: what the second one wants of the first does not fit.
  const std::string refused =
      answer(network(2, 12, 7), target_with({"ldm.bytes=128", "ldm.reserved=0", "cores.count=1"}), {"first", "second"});
  INFO(refused);
  CHECK(refused.find("    ldm-capacity: ") != std::string::npos);
  CHECK(std::regex_search(refused,
                          std::regex("\n  what would change it: target.ldm.bytes = [0-9]+ \\([0-9]+ more\\)\n")));
}

}  // namespace stowage::smallest_ldm_test
