// SPDX-License-Identifier: Apache-2.0
// Stages of groups: their text on small examples, their values on random graphs.
#include <algorithm>
#include <catch2/catch.hpp>

#include "fusion/fold/fold_intrinsics.h"
#include "fusion/groups/group.h"
#include "fusion/groups/stage_composition.h"
#include "fusion/strategies/strategy.h"
#include "tests/fusion/random_net.h"
#include "tests/fusion/run_graph.h"

using namespace stowage;
using namespace stowage::testing;

namespace {

/// Stages of these operators as one group; the last one's name is given last.
std::string stages_of(const Graph& graph, const std::vector<std::string>& names) {
  const GraphFacts facts(graph);
  std::vector<Member> members;
  for (const std::string& name : names) members.push_back({graph.find_operator(name).value(), "member"});
  const StageList list = group_stages(graph, make_group(facts, "test", members[0].op, members));
  CHECK(verify(list) == std::nullopt);
  return to_text(list);
}

}  // namespace

TEST_CASE("a convolution with bias, batch normalisation, activation and add has two stages") {
  Net net;
  const TensorId x = net.input("x", {1, 3, 8, 8});
  const TensorId skip = net.input("0skip.in/1", {1, 4, 4, 4});
  const TensorId c =
      net.op("Conv", "conv", {x, net.constant("w", {4, 3, 3, 3}), net.constant("bias", {4})},
             {{"strides", std::vector<std::int64_t>{2, 2}}, {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  const TensorId r = net.op("Relu", "relu", {net.batch_norm("bn", c)});
  const Graph graph = net.done({net.op("Add", "add", {r, skip})});
  CHECK(stages_of(graph, {"conv", "bn", "relu", "add"}) == R"(input x f32[1,3,8,8]
constant w f32[4,3,3,3]
constant bias f32[4]
constant bn_scale f32[4]
constant bn_bias f32[4]
constant bn_mean f32[4]
constant bn_var f32[4]
input t_0skip_in_1 f32[1,4,4,4]
intermediate conv_out f32[1,4,4,4]
output add_out f32[1,4,4,4]
conv: conv_out[n<1, ff<4, yy<4, xx<4] = sum_{rc<3, ry<3, rx<3} (x[n, rc, 2*yy + ry - 1, 2*xx + rx - 1 else 0] * w[ff, rc, ry, rx])
  finish (acc + bias[ff])
add: add_out[n<1, ff<4, yy<4, xx<4] = (max((((conv_out[n, ff, yy, xx] - bn_mean[ff]) * (bn_scale[ff] / sqrt((bn_var[ff] + 1e-05)))) + bn_bias[ff]), 0.0) + t_0skip_in_1[n, ff, yy, xx])
)");
}

TEST_CASE("an element-wise chain is one stage, each operand read once") {
  Net net;
  const TensorId x = net.input("x", {2, 5});
  const TensorId scaled = net.op("Mul", "mul", {x, net.constant("s", {5})});
  const TensorId t = net.op("Tanh", "tanh", {scaled});
  const Graph graph = net.done({net.op("Add", "add", {t, x})});
  CHECK(stages_of(graph, {"mul", "tanh", "add"}) == R"(input x f32[2,5]
constant s f32[5]
output add_out f32[2,5]
add: add_out[i0<2, i1<5] = (tanh((x[i0, i1] * s[i1])) + x[i0, i1])
)");
}

TEST_CASE("a value used twice is computed twice only while that is little work") {
  // Doubling 2^n times: composing stops where it would repeat more than 32 operations.
  Net net;
  TensorId v = net.input("x", {4});
  std::vector<std::string> names;
  for (int i = 0; i < 8; ++i) {
    names.push_back("twice" + std::to_string(i));
    v = net.op("Mul", names.back(), {v, v});
  }
  const Graph graph = net.done({v});
  const std::string text = stages_of(graph, names);
  CHECK(std::count(text.begin(), text.end(), '\n') == 5);  // input, intermediate, output and two stages
  CHECK(text.find("intermediate twice5_out f32[4]") != std::string::npos);
}

TEST_CASE("a view inside a group becomes an index of its reader") {
  Net net;
  const TensorId x = net.input("x", {2, 3, 4});
  const TensorId f = net.op("Flatten", "flatten", {net.op("Relu", "relu", {x})});
  const Graph graph = net.done({net.op("MatMul", "matmul", {f, net.constant("w", {12, 5})})});
  CHECK(stages_of(graph, {"relu", "flatten", "matmul"}) == R"(input x f32[2,3,4]
constant w f32[12,5]
intermediate relu_out f32[2,3,4]
output matmul_out f32[2,5]
relu: relu_out[i0<2, i1<3, i2<4] = max(x[i0, i1, i2], 0.0)
matmul: matmul_out[x<2, y<5] = sum_{k<12} (relu_out[x, (k / 4), (k % 4)] * w[k, y])
)");
}

TEST_CASE("an outer product of a result with itself has two iterators") {
  Net net;
  const TensorId r = net.op("Relu", "relu", {net.input("x", {3})});
  const TensorId column = net.op("Unsqueeze", "column", {r}, {{"axes", std::vector<std::int64_t>{1}}});
  const Graph graph = net.done({net.op("Mul", "mul", {column, r})});
  CHECK(stages_of(graph, {"relu", "column", "mul"}) == R"(input x f32[3]
intermediate relu_out f32[3]
output mul_out f32[3,3]
relu: relu_out[i0<3] = max(x[i0], 0.0)
mul: mul_out[i0<3, i1_2<3] = (relu_out[i0] * relu_out[i1_2])
)");
}

TEST_CASE("a value is not computed again for every step of a reduction") {
  // out[i] = sum_r exp(x[i]) * y[i, r]: composing would take the exponential once for every r.
  StageList list;
  list.tensors = {{"x", ElementType::f32, {3}, TensorRole::input, {}, {}},
                  {"y", ElementType::f32, {3, 5}, TensorRole::input, {}, {}},
                  {"e", ElementType::f32, {3}, TensorRole::intermediate, {}, {}},
                  {"out", ElementType::f32, {3}, TensorRole::output, {}, {}}};
  const IndexExpr i = VarId(std::size_t{0});
  const IndexExpr r = VarId(std::size_t{1});
  const ScalarExpr first = scalar_read(ElementType::f32, ReadId(0));
  const ScalarExpr second = scalar_read(ElementType::f32, ReadId(1));
  list.stages.push_back({"exp",
                         StageTensorId(2),
                         {{"i", 3}},
                         1,
                         Reduction::none,
                         {{StageTensorId(0), {i}, {}}},
                         scalar_unary(UnaryOp::exp, first),
                         {}});
  list.stages.push_back({"sum",
                         StageTensorId(3),
                         {{"i", 3}, {"r", 5}},
                         1,
                         Reduction::sum,
                         {{StageTensorId(2), {i}, {}}, {StageTensorId(1), {i, r}, {}}},
                         first * second,
                         {}});
  REQUIRE(verify(list) == std::nullopt);
  CHECK(to_text(compose_stages(list)) == to_text(list));
}

TEST_CASE("names are identifiers, unique, and keep what a person gave") {
  Net net;
  const TensorId a = net.input("in/a", {4});
  const TensorId b = net.input("in.a", {4});
  const TensorId c = net.input("float", {4});
  const Graph graph = net.done({net.op("Sum", "1st sum", {a, b, c})});
  CHECK(stages_of(graph, {"1st sum"}) == R"(input in_a f32[4]
input in_a_2 f32[4]
input float f32[4]
output t_1st_sum_out f32[4]
t_1st_sum: t_1st_sum_out[i0<4] = ((in_a[i0] + in_a_2[i0]) + float[i0])
)");
}

TEST_CASE("two reductions in a group have iterators of their own") {
  Net net;
  const TensorId x = net.input("x", {1, 2, 6, 6});
  const Graph graph = net.done({net.conv("second", net.conv("first", x, 3, 3), 4, 3)});
  CHECK(stages_of(graph, {"first", "second"}) == R"(input x f32[1,2,6,6]
constant first_w f32[3,2,3,3]
constant second_w f32[4,3,3,3]
intermediate first_out f32[1,3,6,6]
output second_out f32[1,4,6,6]
first: first_out[n<1, ff<3, yy<6, xx<6] = sum_{rc<2, ry<3, rx<3} (x[n, rc, yy + ry - 1, xx + rx - 1 else 0] * first_w[ff, rc, ry, rx])
second: second_out[n_2<1, ff_2<4, yy_2<6, xx_2<6] = sum_{rc_2<3, ry_2<3, rx_2<3} (first_out[n_2, rc_2, yy_2 + ry_2 - 1, xx_2 + rx_2 - 1 else 0] * second_w[ff_2, rc_2, ry_2, rx_2])
)");
}

namespace {

/// Every network output of `fused` against the graph run operator by operator.
void check_same_values(const Graph& graph, const FusedGraph& fused, unsigned seed, double tolerance) {
  const Values inputs = random_inputs(graph, seed);
  const Values expected = run_operators(graph, inputs);
  const Values actual = run_groups(fused, inputs);
  for (const TensorId output : graph.outputs()) {
    const std::string& name = graph.tensor(output).name;
    INFO("output " << name);
    CHECK(relative_difference(actual.at(name), expected.at(name)) <= tolerance);
  }
}

}  // namespace

TEST_CASE("greedy partitions of random graphs are valid and compute the same") {
  std::size_t fused_operators = 0;
  for (unsigned seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    const Graph graph = RandomNet(seed).make(4 + static_cast<int>(seed % 16));
    const FusedGraph fused = find_strategy("greedy")->fuse(graph, built_in_templates(), nullptr, {});
    INFO(to_text(fused));
    REQUIRE(verify(fused) == std::nullopt);
    for (const FusedOperator& group : fused.groups) {
      REQUIRE(verify(group_stages(graph, group)) == std::nullopt);
      if (group.operators.size() > 1) fused_operators += group.operators.size();
    }
    // The operations are the same; only results inside a group are not rounded to f32 in between.
    check_same_values(graph, fused, seed, 1e-6);
    const Graph folded = fold_intrinsics(graph, {});
    REQUIRE(verify(folded) == std::nullopt);
    check_same_values(graph, find_strategy("greedy")->fuse(folded, built_in_templates(), nullptr, {}), seed, 1e-5);
  }
  CHECK(fused_operators > 300);
}
