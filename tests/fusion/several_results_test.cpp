// SPDX-License-Identifier: Apache-2.0
// Operators with several outputs in groups: none of what is needed outside is lost.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

#include "fusion/groups/group.h"
#include "fusion/rules/legality.h"
#include "fusion/strategies/strategy.h"
#include "fusion/templates/template.h"
#include "tests/fusion/net.h"
#include "tests/fusion/random_net.h"
#include "tests/fusion/run_graph.h"

using namespace stowage;
using namespace stowage::testing;

namespace {

const Attributes windows = {{"kernel_shape", std::vector<std::int64_t>{2, 2}}};

/// conv → pool → relu; the pool's indices are an output of the network, or read by a Cast, or nobody's.
struct PoolNet {
  enum class Indices { output, read, unread };
  explicit PoolNet(Indices indices) {
    const TensorId conv = net.conv("conv", net.input("x", {1, 3, 6, 6}), 4, 3);
    const auto pool = net.several("MaxPool", "pool", {conv}, indices == Indices::unread ? 1 : 2, windows);
    std::vector<TensorId> outputs = {net.op("Relu", "relu", {pool[0]})};
    if (indices == Indices::output) outputs.push_back(pool[1]);
    if (indices == Indices::read) outputs.push_back(net.op("Cast", "cast", {pool[1]}, {{"to", std::string("f32")}}));
    graph = net.done(outputs);
  }
  Net net;
  Graph graph;
};

FusedOperator group_of(const GraphFacts& facts, const std::vector<std::pair<std::string, std::string>>& members) {
  std::vector<Member> found;
  for (const auto& [name, role] : members) found.push_back({facts.graph.find_operator(name).value(), role});
  return make_group(facts, "test", found.front().op, found);
}

std::string broken_rules(const Graph& graph, const std::vector<std::pair<std::string, std::string>>& members) {
  const GraphFacts facts(graph);
  std::string rules;
  for (const Decision& refused : refusals(facts, group_of(facts, members))) rules += refused.rule + " ";
  return rules;
}

}  // namespace

TEST_CASE("an operator whose second result is needed outside ends its group") {
  using Indices = PoolNet::Indices;
  const std::vector<std::pair<std::string, std::string>> pool_inside = {{"pool", "anchor"}, {"relu", "epilogue"}};
  CHECK(broken_rules(PoolNet(Indices::unread).graph, pool_inside).empty());
  CHECK(broken_rules(PoolNet(Indices::output).graph, pool_inside) == "network-output ");
  CHECK(broken_rules(PoolNet(Indices::read).graph, pool_inside) == "inner-use ");
  // The indices would be computed, and neither stored nor read.
  Net unread;
  const auto pool = unread.several("MaxPool", "pool", {unread.input("x", {1, 3, 6, 6})}, 2, windows);
  CHECK(broken_rules(unread.done({unread.op("Relu", "relu", {pool[0]})}), pool_inside) == "inner-use ");
  const std::vector<std::pair<std::string, std::string>> pool_last = {{"conv", "producer"}, {"pool", "anchor"}};
  for (const Indices indices : {Indices::output, Indices::read}) {
    const PoolNet net(indices);
    CHECK(broken_rules(net.graph, pool_last).empty());
    const GraphFacts facts(net.graph);
    const FusedOperator group = group_of(facts, pool_last);
    CHECK(stored_by(group) == outputs_of(net.graph.op(net.graph.find_operator("pool").value())));
    const StageList stages = group_stages(net.graph, group);
    CHECK(verify(stages).value_or("sound") == "sound");
    CHECK(std::count_if(stages.tensors.begin(), stages.tensors.end(),
                        [](const StageTensor& t) { return t.role == TensorRole::output; }) == 2);
  }
}

TEST_CASE("a fused graph that lacks a result is told from a sound one") {
  const PoolNet net(PoolNet::Indices::output);
  const GraphFacts facts(net.graph);
  FusedGraph fused{net.graph, {}};
  for (const OpId op : facts.order) fused.groups.push_back(make_single(facts, op));
  REQUIRE(verify(fused).value_or("sound") == "sound");
  FusedGraph lacking = fused;
  lacking.groups[1].results.pop_back();
  CHECK(verify(lacking) == "group pool: its outputs are not its last operator's");
  std::swap(fused.groups[1].results[0], fused.groups[1].results[1]);
  CHECK(verify(fused) == "group pool: its outputs are not its last operator's");
}

TEST_CASE("every strategy keeps the results of operators with several") {
  std::mt19937 random(7);
  for (unsigned seed = 0; seed < 30; ++seed) {
    INFO("seed " << seed);
    Net net("several", seed);
    const auto pick = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
    std::vector<TensorId> made = {net.input("x", {1, 4, 6, 6})};
    std::vector<TensorId> outputs;
    for (std::size_t i = 0; i < 8; ++i) {
      const std::string name = "op" + std::to_string(i);
      const TensorId x = made[made.size() - 1 - pick(std::min<std::size_t>(made.size(), 3))];
      const Shape shape = net.shape(x);
      const std::size_t kind = pick(5);
      if (kind == 0 && shape[2] > 2 && shape[3] > 2) {
        const auto pool = net.several("MaxPool", name, {x}, 2, windows);
        made.push_back(pool[0]);
        if (pick(2) == 0) made.push_back(net.op("Cast", name + "_cast", {pool[1]}, {{"to", std::string("f32")}}));
        if (pick(2) == 0) outputs.push_back(pool[1]);
      } else if (kind == 1) {
        const auto norm = net.several("LayerNormalization", name, {x, net.constant(name + "_s", {shape[3]})}, 3);
        made.push_back(norm[0]);
        made.push_back(net.op("Add", name + "_add", {norm[0], norm[1 + pick(2)]}));
        if (pick(3) == 0) outputs.push_back(norm[1 + pick(2)]);
      } else if (kind == 2) {
        made.push_back(net.conv(name, x, 4, 1));
      } else {
        made.push_back(net.op(kind == 3 ? "Relu" : "Sigmoid", name, {x}));
      }
    }
    outputs.push_back(made.back());
    const Graph graph = net.done(outputs);
    REQUIRE(verify(graph).value_or("sound") == "sound");
    const Values inputs = random_inputs(graph, seed);
    const Values wanted = run_operators(graph, inputs);
    for (const char* strategy : {"none", "greedy", "tvm", "dnnvm", "exact"}) {
      INFO(strategy);
      const FusedGraph fused = find_strategy(strategy)->fuse(graph, built_in_templates(), nullptr, {});
      REQUIRE(verify(fused).value_or("sound") == "sound");
      const Values found = run_groups(fused, inputs);
      for (const TensorId output : graph.outputs()) {
        const std::string& name = graph.tensor(output).name;
        INFO(name);
        REQUIRE(found.contains(name));
        CHECK(relative_difference(found.at(name), wanted.at(name)) <= 1e-5);
      }
    }
  }
}
