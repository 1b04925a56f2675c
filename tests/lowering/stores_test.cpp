// SPDX-License-Identifier: Apache-2.0
// Nests that store the results of several stages.
#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <random>

#include "fusion/groups/group.h"
#include "lowering/interpret/interpret.h"
#include "lowering/ir/loop_nest_parser.h"
#include "lowering/nest/plan.h"
#include "lowering/program/plan_group.h"
#include "lowering/program/planners.h"
#include "lowering/verify/verify.h"
#include "lowering/verify/verify_results.h"
#include "tests/fusion/net.h"
#include "tests/fusion/random_net.h"
#include "tests/fusion/run_graph.h"
#include "tests/sunway.h"

namespace stowage::stores_test {

using namespace stowage::testing;

namespace {

using fixtures::sunway;

/// LayerNormalization over the dimensions from `axis` on, with its mean and inverse deviation.
Graph normalization(const Shape& shape, std::int64_t axis) {
  Net net;
  const TensorId scale = net.constant("scale", Shape(shape.begin() + axis, shape.end()));
  return net.done(net.several("LayerNormalization", "norm", {net.input("x", shape), scale}, 3, {{"axis", axis}}));
}

Graph pool(const Shape& shape, std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
  using Ints = std::vector<std::int64_t>;
  Net net;
  return net.done(net.several(
      "MaxPool", "pool", {net.input("x", shape)}, 2,
      {{"kernel_shape", Ints{kernel, kernel}}, {"strides", Ints{stride, stride}}, {"pads", Ints{pad, pad, pad, pad}}}));
}

FusedOperator alone(const Graph& graph) { return make_single(GraphFacts(graph), OpId(0)); }

/// Plans the only operator, and holds what the nest stores against the operator's plain evaluation.
Plan planned_right(const Graph& graph, const std::string& planner, const Target& target, unsigned seed = 1) {
  const StageList stages = group_stages(graph, alone(graph));
  INFO(planner << "\n" << to_text(stages));
  const Planned planned = plan_group("op", stages, {}, *find_planner(planner), target, {});
  if (const auto* refused = std::get_if<Decision>(&planned)) FAIL(refused->rule << ": " << refused->reason);
  const Plan& plan = std::get<Plan>(planned);
  INFO(to_text(plan.nest));
  REQUIRE(verify(plan.nest, target).value_or("sound") == "sound");
  REQUIRE(verify_results(plan.nest, target).value_or("sound") == "sound");
  const Values values = run_operators(graph, random_inputs(graph, seed));
  std::map<StageTensorId, Tensor> operands;
  for (const StageTensorId t : plan.nest.stages.tensors.ids()) {
    const StageTensor& tensor = plan.nest.stages.tensors[t];
    if (tensor.role == TensorRole::constant) operands[t] = *tensor.value;
    if (tensor.role == TensorRole::input) operands[t] = values.at(graph.tensor(*tensor.source).name);
  }
  const std::map<StageTensorId, Tensor> computed = interpret(plan.nest, operands);
  for (const TensorId output : graph.outputs()) {
    INFO(graph.tensor(output).name);
    for (const StageTensorId t : plan.nest.stages.tensors.ids()) {
      if (plan.nest.stages.tensors[t].source != output) continue;
      CHECK(relative_difference(computed.at(t), values.at(graph.tensor(output).name)) <= 1e-5);
    }
  }
  return plan;
}

std::string refusal(const Graph& graph, const Schedule& fixed) {
  const Planned planned =
      plan_group("op", group_stages(graph, alone(graph)), fixed, *find_planner("swtvm"), sunway(), {});
  const auto* refused = std::get_if<Decision>(&planned);
  return refused == nullptr ? "allowed" : refused->rule + ": " + refused->reason;
}

}  // namespace

TEST_CASE("an operator with several outputs stores each in one launch") {
  for (const char* planner : {"swtvm", "searched"}) {
    const Plan plan = planned_right(normalization({6, 5, 40}, 2), planner, sunway());
    int puts = 0;
    visit_statements(plan.nest.body, [&](const Stmt& stmt) {
      const auto* dma = std::get_if<Dma>(&stmt.node);
      puts += dma != nullptr && dma->direction == DmaDirection::put ? 1 : 0;
    });
    CHECK(puts == 3);
    // Only rows are shared among cores: a row has one mean.
    for (const ParallelSplit& split : *plan.schedule.parallel) CHECK(split.iterator != "i2");
    CHECK(plan.schedule.dma.size() == 7);  // three stages read x each for itself
  }
}

TEST_CASE("rows that are longer than the LDM are normalised in tiles, their mean stored once") {
  for (const char* planner : {"swtvm", "searched"}) {
    const Plan plan = planned_right(normalization({3, 5000}, 1), planner, sunway({"ldm.bytes=16384"}));
    CHECK(plan.schedule.buffer.at("i1") < 5000);
  }
}

TEST_CASE("random operators with several outputs") {
  std::mt19937 random(11);
  const auto up_to = [&](std::int64_t most) {
    return 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(most));
  };
  const Target small = sunway({"ldm.bytes=8192"});
  for (unsigned seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    const char* planner = seed % 2 == 0 ? "swtvm" : "searched";
    const Target target = seed % 3 == 0 ? small : sunway();
    if (seed % 4 == 3) {
      const std::int64_t kernel = up_to(3);
      planned_right(pool({up_to(2), up_to(5), kernel + up_to(9), kernel + up_to(20)}, kernel, up_to(2), kernel / 2),
                    planner, target, seed);
    } else {
      Shape shape;
      for (std::int64_t rank = up_to(4); rank > 0; --rank) shape.push_back(up_to(rank == 1 ? 90 : 9));
      planned_right(normalization(shape, up_to(static_cast<std::int64_t>(shape.size())) - 1), planner, target, seed);
    }
  }
}

TEST_CASE("schedules by which an earlier stage's result would be stored twice are refused") {
  const Graph graph = normalization({6, 40}, 1);
  Schedule split;
  split.parallel = {{"i1", 2}};
  CHECK(refusal(graph, split) ==
        "schedule: parallel: i1 is split over cores, each of which would store the same elements of norm_1");
  Schedule order;
  order.parallel = std::vector<ParallelSplit>{};
  order.buffer = {{"i0", 2}, {"i1", 10}};
  order.order = {"i1o", "i0o"};
  CHECK(refusal(graph, order) ==
        "schedule: order: the loop i1o stands outside of one that moves norm_1, which would be stored again in each of "
        "its trips");
  order.order = {"i0o", "i1o"};
  CHECK(refusal(graph, order) == "allowed");
}

TEST_CASE("a stored result that others want in windows is refused") {
  // The operand of a window, stored as well: neighbouring tiles both make its edge.
  Net net;
  const TensorId relu = net.op("Relu", "relu", {net.input("x", {1, 1, 8, 8})});
  const TensorId conv = net.conv("conv", relu, 2, 3);
  const Graph graph = net.done({conv});
  const GraphFacts facts(graph);
  StageList list =
      group_stages(graph, make_group(facts, "test", OpId(1), {{OpId(0), "producer"}, {OpId(1), "anchor"}}));
  bool marked = false;
  for (StageTensor& tensor : list.tensors) {
    if (tensor.role != TensorRole::intermediate) continue;
    tensor.role = TensorRole::output;
    marked = true;
  }
  REQUIRE(marked);
  REQUIRE(verify(list).value_or("sound") == "sound");
  const Planned planned = plan_group("op", list, {}, *find_planner("swtvm"), sunway(), {});
  REQUIRE(std::holds_alternative<Decision>(planned));
  CHECK(std::get<Decision>(planned).reason ==
        "relu_out is stored, but its readers want other parts of it than tiles side by side along i2");
}

}  // namespace stowage::stores_test
