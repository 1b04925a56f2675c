// SPDX-License-Identifier: Apache-2.0
// Groups of several stages: random ones against the operators' plain evaluation, intermediates included.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <map>

#include "fusion/groups/horizontal_fusion.h"
#include "lowering/interpret/interpret.h"
#include "lowering/ir/loop_nest_parser.h"
#include "lowering/nest/plan.h"
#include "lowering/program/plan_group.h"
#include "lowering/program/planners.h"
#include "lowering/verify/verify.h"
#include "tests/fusion/random_net.h"
#include "tests/fusion/random_partition.h"
#include "tests/random_runs.h"

namespace stowage::group_plans_test {

using test::number_from;
using namespace stowage::testing;

namespace {

double largest_magnitude(const Tensor& tensor) {
  double largest = 1e-30;
  for (std::int64_t i = 0; i < tensor.size(); ++i) largest = std::max(largest, std::abs(tensor.as_double(i)));
  return largest;
}

struct Tally {
  int planned = 0, fused = 0, refused = 0, intermediates = 0;
};

/// Values that stay inside a group of branches, by tensor of its stages: those of the branches, put together.
std::map<StageTensorId, Tensor> stacked_intermediates(const Graph& graph, const FusedOperator& group,
                                                      const Values& values) {
  std::map<StageTensorId, Tensor> inside;
  if (!is_horizontal(group)) return inside;
  const std::vector<Branch> branches = branches_of(graph, group);
  std::vector<StageList> lists;
  for (const Branch& branch : branches) lists.push_back(branch_stages(graph, branch));
  const auto stacked = stack_stages(graph, lists, branches);
  REQUIRE(std::holds_alternative<StackedStages>(stacked));
  const auto& of = std::get<StackedStages>(stacked);
  for (const StageTensorId t : of.parts.ids()) {
    if (!of.parts[t] || of.list.tensors[t].role != TensorRole::intermediate) continue;
    std::vector<Tensor> parts;
    for (const TensorId part : of.parts[t]->tensors) parts.push_back(values.at(graph.tensor(part).name));
    inside.emplace(t, concatenated(parts, of.parts[t]->axis));
  }
  return inside;
}

void check_group(const Graph& graph, const FusedOperator& group, const Target& target, const Values& values,
                 Tally& tally) {
  const StageList stages = group_stages(graph, group);
  INFO(group.name << ": " << group.operators.size() << " operators\n" << to_text(stages));
  const Planned planned = plan_group(group.name, stages, {}, *find_planner("swtvm"), target, {});
  if (const auto* refused = std::get_if<Decision>(&planned)) {
    INFO(refused->reason);
    REQUIRE((refused->rule == "ldm-capacity" || refused->rule == "padded-intermediate" ||
             refused->rule == "table-in-window"));
    ++tally.refused;
    return;
  }
  const LoopNest& nest = std::get<Plan>(planned).nest;
  INFO(to_text(nest));
  REQUIRE(verify(nest, target).value_or("sound") == "sound");
  std::map<StageTensorId, Tensor> operands;
  std::map<std::string, Tensor> constants;
  for (const StageTensorId t : nest.stages.tensors.ids()) {
    const StageTensor& tensor = nest.stages.tensors[t];
    if (tensor.role == TensorRole::constant) operands[t] = *tensor.value;
    if (tensor.value) constants.emplace(tensor.name, *tensor.value);
    if (tensor.role == TensorRole::input) operands[t] = values.at(graph.tensor(*tensor.source).name);
  }
  // Sums are rounded relative to what they are made of: x - tanh(x) may leave little of it.
  double scale = 1;
  for (const auto& [t, operand] : operands) scale = std::max(scale, largest_magnitude(operand));
  Diagnostics diagnostics;
  const auto parsed = parse_loop_nest(to_text(nest), diagnostics, constants);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(parsed);
  REQUIRE(to_text(*parsed) == to_text(nest));
  const std::map<StageTensorId, Tensor> stacked = stacked_intermediates(graph, group, values);
  for (const auto& [t, computed] : interpret(nest, operands)) {
    const StageTensor& tensor = nest.stages.tensors[t];
    if (!tensor.source && !stacked.contains(t)) continue;
    INFO(tensor.name);
    const bool inside = tensor.role == TensorRole::intermediate;
    const Tensor expected = stacked.contains(t)                 ? stacked.at(t)
                            : tensor.role == TensorRole::output ? stored_value(graph, group, tensor, values)
                                                                : values.at(graph.tensor(*tensor.source).name);
    REQUIRE(largest_difference(computed, expected, inside) <= 1e-5 * std::max(scale, largest_magnitude(expected)));
    tally.intermediates += inside ? 1 : 0;
  }
  ++tally.planned;
  if (nest.stages.stages.size() > 1) ++tally.fused;
}

}  // namespace

namespace {

/// A convolution and a pool that looks outside of its result.
StageList conv_and_pool() {
  Net net("conv_pool");
  const TensorId x = net.input("X", {1, 1, 6, 6});
  const TensorId conv = net.op("Conv", "conv", {x, net.constant("W", {2, 1, 3, 3})});
  const TensorId pool = net.op("MaxPool", "pool", {conv},
                               {{"kernel_shape", std::vector<std::int64_t>{3, 3}},
                                {"strides", std::vector<std::int64_t>{2, 2}},
                                {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  const Graph graph = net.done({pool});
  const GraphFacts facts(graph);
  StageList stages =
      group_stages(graph, make_group(facts, "test", OpId(1), {{OpId(0), "producer"}, {OpId(1), "anchor"}}));
  for (StageTensor& tensor : stages.tensors) tensor.value.reset();
  return stages;
}

Target one_core() {
  Target target;
  target.cores.count = 1;
  target.ldm.reserved = 0;
  target.dma.bandwidth = {{64, 1e10}};
  return target;
}

LoopNest nest_of(const StageList& stages, const Schedule& fixed = {}) {
  const Planned planned = plan_group("group", stages, fixed, *find_planner("swtvm"), one_core(), {});
  if (const auto* refused = std::get_if<Decision>(&planned)) FAIL(refused->reason);
  return std::get<Plan>(planned).nest;
}

/// The nest with every line of `text` that contains `what` changed.
std::string verdict_with(const LoopNest& nest, const std::string& what, const std::string& instead) {
  std::string text = to_text(nest);
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  text.replace(at, what.size(), instead);
  Diagnostics diagnostics;
  const auto parsed = parse_loop_nest(text, diagnostics, {});
  INFO(format_diagnostics(diagnostics));
  REQUIRE(parsed);
  return verify(*parsed, one_core()).value_or("sound");
}

}  // namespace

TEST_CASE("a pool that looks outside of a convolution's result: the padding comes around what was computed") {
  const LoopNest nest = nest_of(conv_and_pool(), {{}, {{"yy_2", 1}}, {}, {}, {}, {}});
  CHECK(to_text(nest) == R"(nest group {
  input X f32[1,1,6,6] source 0
  constant W f32[2,1,3,3] source 1
  intermediate conv_out f32[1,2,4,4] source 2
  output pool_out f32[1,2,2,2] source 3
  stage conv {
    conv_out[n < 1, ff < 2, yy < 4, xx < 4] = sum over rc < 1, ry < 3, rx < 3 of (#0 * #1)
    #0 = X[n, rc, yy + ry, xx + rx]
    #1 = W[ff, rc, ry, rx]
  }
  stage pool {
    pool_out[n_2 < 1, c < 2, yy_2 < 2, xx_2 < 2] = max over ry_2 < 3, rx_2 < 3 of #0
    #0 = conv_out[n_2, c, 2*yy_2 + ry_2 - 1, 2*xx_2 + rx_2 - 1] else -inf
  }
  variables n_2, yy_2, X_2_at, X_2_n, conv_yy_at, conv_yy_n
  memory X = X strides [36, 36, 6, 1]
  memory W = W strides [9, 9, 3, 1]
  memory pool_out = pool_out strides [8, 4, 2, 1] written
  ldm 384 bytes
  buffer X_ldm f32[1,1,5,6] at 0, 120 bytes = X[n_2, 0, max(2*yy_2 - 1, 0), 0]
  buffer W_ldm f32[2,1,3,3] at 128, 72 bytes = W[0, 0, 0, 0]
  buffer conv_out_ldm f32[1,2,3,5] at 224, 120 bytes = conv_out[n_2, 0, 2*yy_2 - 1, -1]
  buffer pool_out_ldm f32[1,2,1,2] at 352, 16 bytes = pool_out[n_2, 0, yy_2, 0]
  body {
    0  get W[0:2, 0:1, 0:3, 0:3] -> W_ldm  // W before the first loop
    1  wait 0
    2  for n_2 < 1 of n_2 {
    3    for yy_2 < 2 of yy_2 {
    4      let X_2_at = max(2*yy_2 - 1, 0)
    5      let X_2_n = 2*yy_2 + 4 - max(2*yy_2 - 1, 0) in 3..5
    6      get X[n_2:n_2 + 1, 0:1, X_2_at:X_2_at + X_2_n <= 5, 0:6] -> X_ldm  // X inside yy_2
    7      wait 6
    8      let conv_yy_at = max(2*yy_2 - 1, 0)
    9      let conv_yy_n = 2*yy_2 + 2 - max(2*yy_2 - 1, 0) in 1..3
   10      fill conv_out_ldm with 0 in registers sliding along yy_2  // initialisation of conv_out
   11      compute update conv_out_ldm = conv(X_ldm, W_ldm) over n=n_2:n_2 + 1, ff=0:2, yy=conv_yy_at:conv_yy_at + conv_yy_n <= 3, xx=0:4, rc=0:1, ry=0:3, rx=0:3 as register_block lane xx block ff
   12      fill conv_out_ldm around [0:1, 0:2, max(0, 1 - 2*yy_2):3 <= 3, 1:5] with -inf  // padding of conv_out
   13      fill pool_out_ldm with -inf  // initialisation of pool_out
   14      compute update pool_out_ldm = pool(conv_out_ldm) over n_2=n_2:n_2 + 1, c=0:2, yy_2=yy_2:yy_2 + 1, xx_2=0:2, ry_2=0:3, rx_2=0:3
   15      put pool_out_ldm -> pool_out[n_2:n_2 + 1, 0:2, yy_2:yy_2 + 1, 0:2]  // pool_out inside yy_2
   16      wait 15
         }
       }
  }
}
)");
  CHECK(verify(nest, one_core()).value_or("sound") == "sound");
}

TEST_CASE("padding over a part of what was computed is unsound, and so is padding around more or before it") {
  const LoopNest nest = nest_of(conv_and_pool());
  INFO(to_text(nest));
  const std::string around = "around [0:1, 0:2, 1:5, 1:5]";
  CHECK(verdict_with(nest, around, "around [0:1, 0:2, 1:4, 1:5]") ==
        "fill-over-data: statement 6 'fill conv_out_ldm around [0:1, 0:2, 1:4, 1:5] with -inf': touches 1..4 of "
        "dimension 2 of buffer conv_out_ldm, which are filled over");
  CHECK(verdict_with(nest, around, "around [0:1, 0:2, 1:5, 0:5]") ==
        "padding-is-there: statement 8 'compute update pool_out_ldm = pool(conv_out_ldm) over n_2=0:1, c=0:2, "
        "yy_2=0:2, xx_2=0:2, ry_2=0:3, rx_2=0:3': reads before dimension 3 of conv_out, where buffer conv_out_ldm was "
        "not filled with -inf");
  CHECK(verdict_with(nest, around, "around [0:1, 0:2, 1:5, 1:6]") ==
        "fill-in-buffer: statement 6 'fill conv_out_ldm around [0:1, 0:2, 1:5, 1:6] with -inf': touches 1..5 of "
        "dimension 3 of buffer conv_out_ldm, which has 5");
  CHECK(verdict_with(nest, around, "around [0:1, 0:2, 1:5]") ==
        "structure: statement 6: the box has another rank than the buffer");
  // As the initialisation stands before the computation, its place is where nothing is yet.
  CHECK(verdict_with(nest, "fill conv_out_ldm with 0", "fill conv_out_ldm " + around + " with 0") ==
        "read-before-there: statement 5 'compute update conv_out_ldm = conv(X_ldm, W_ldm) over n=0:1, ff=0:2, yy=0:4, "
        "xx=0:4, rc=0:1, ry=0:3, rx=0:3 as register_block lane xx block ff': buffer conv_out_ldm is accumulated into, "
        "but nothing was put there");
}

TEST_CASE("random groups of several stages, interpreted, give what their operators give, inside as well") {
  const std::uint64_t seed = number_from("STOWAGE_SEED", 20260101);
  const std::uint64_t rounds = number_from("STOWAGE_ROUNDS", 300);
  Tally tally;
  std::uint64_t branches = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1");
    RandomPartition random(static_cast<unsigned>(seed + round));
    const FusedGraph fused = random.make();
    REQUIRE(verify(fused).value_or("sound") == "sound");
    const Values values = run_operators(fused.graph, random_inputs(fused.graph, static_cast<unsigned>(seed + round)));
    const Target target = random.machine();
    for (const FusedOperator& group : fused.groups) {
      if (!group.is_view) check_group(fused.graph, group, target, values, tally);
      branches += is_horizontal(group) ? 1 : 0;
    }
  }
  WARN("seed " << seed << ", " << rounds << " graphs: " << tally.planned << " groups planned, " << tally.fused
               << " of several stages, " << branches << " of branches, " << tally.intermediates
               << " intermediates compared, " << tally.refused << " refused");
  CHECK(tally.planned > tally.refused);
  CHECK(branches >= rounds / 20);
}

}  // namespace stowage::group_plans_test
