// SPDX-License-Identifier: Apache-2.0
// Random networks, folded, fused and planned: the loop nest of every group, interpreted, gives what the graph gives
// operator by operator.
#include <catch2/catch.hpp>
#include <map>

#include "fusion/fold/fold_intrinsics.h"
#include "fusion/strategies/strategy.h"
#include "lowering/interpret/interpret.h"
#include "lowering/program/plan_group.h"
#include "lowering/program/planned_cost.h"
#include "lowering/program/planners.h"
#include "lowering/verify/verify.h"
#include "tests/fusion/random_net.h"

using namespace stowage;
using namespace stowage::testing;

namespace {

struct Tally {
  int planned = 0;
  int fused = 0;    ///< planned groups of several operators
  int refused = 0;  ///< groups that lowering refused to greedy
};

/// Plans and interprets one group; `values` are those of all tensors of the graph.
void check_group(const Graph& graph, const FusedOperator& group, const Target& target, const Values& values,
                 Tally& tally) {
  const StageList stages = group_stages(graph, group);
  INFO(to_text(stages));
  const Planned planned = plan_group(group.name, stages, {}, *find_planner("swtvm"), target, {});
  if (std::holds_alternative<Decision>(planned)) {
    // Only an operator alone may find no room at all; a group of several was planned when it was chosen.
    CHECK(group.operators.size() == 1);
    return;
  }
  const LoopNest& nest = std::get<Plan>(planned).nest;
  REQUIRE(verify(nest, target) == std::nullopt);
  std::map<StageTensorId, Tensor> operands;
  StageTensorId output;
  for (const StageTensorId t : nest.stages.tensors.ids()) {
    const StageTensor& tensor = nest.stages.tensors[t];
    if (tensor.role == TensorRole::output) output = t;
    if (tensor.role == TensorRole::constant) operands[t] = *tensor.value;
    if (tensor.role == TensorRole::input) {
      operands[t] = values.at(graph.tensor(*tensor.source).name);
    }
  }
  const Tensor expected = stored_value(graph, group, nest.stages.tensors[output], values);
  CHECK(relative_difference(interpret(nest, operands).at(output), expected) <= 1e-5);
  ++tally.planned;
  if (group.operators.size() > 1) ++tally.fused;
}

Tally check_networks(const Target& target, unsigned first_seed, unsigned last_seed) {
  Tally tally;
  const PlannedGroupCost cost(*find_planner("swtvm"), target);
  for (unsigned seed = first_seed; seed <= last_seed; ++seed) {
    INFO("seed " << seed);
    const Graph graph = fold_intrinsics(RandomNet(seed).make(4 + static_cast<int>(seed % 16)), {});
    const Values values = run_operators(graph, random_inputs(graph, seed));
    Trace trace;
    const FusedGraph fused = find_strategy("greedy")->fuse(graph, built_in_templates(), &cost, TraceSink(&trace));
    REQUIRE(verify(fused) == std::nullopt);
    for (const TraceRecord& record : trace.records) tally.refused += heading_of(record).rule == "ldm-capacity" ? 1 : 0;
    for (const FusedOperator& group : fused.groups) {
      if (!group.is_view) check_group(graph, group, target, values, tally);
    }
  }
  return tally;
}

Target target_with(const std::vector<std::string>& settings) {
  Diagnostics diagnostics;
  const auto target = load_target("sw26010", settings, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(target);
  return *target;
}

}  // namespace

TEST_CASE("plans of random fused networks compute what the operators do") {
  const Tally tally = check_networks(target_with({}), 1, 150);
  CHECK(tally.planned > 1000);
  CHECK(tally.fused > 150);
}

TEST_CASE("where the scratchpad is small, greedy falls back to groups that fit") {
  const Tally tally = check_networks(target_with({"ldm.bytes = 160", "ldm.reserved = 0"}), 200, 300);
  CHECK(tally.planned > 500);
  CHECK(tally.refused > 0);
}
