// SPDX-License-Identifier: Apache-2.0
// Branches: which are alike, where their results are put, what they are as one operator.
#include "fusion/groups/horizontal_fusion.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "fusion/facts/views.h"
#include "fusion/fold/channel_blocks.h"
#include "fusion/groups/group.h"
#include "fusion/strategies/candidates.h"
#include "fusion/strategies/strategy.h"
#include "fusion/templates/pattern.h"
#include "tests/fusion/random_net.h"

using namespace stowage;
using namespace stowage::testing;

namespace {

using Ints = std::vector<std::int64_t>;

/// Boxes of results and what is said of families.
std::string placed(const Graph& graph) {
  Trace trace;
  const Graph result = place_tensors(graph, TraceSink(&trace), 4);
  CHECK(verify(result).value_or("sound") == "sound");
  std::string text;
  for (const GraphTensor& tensor : result.tensors()) {
    if (is_storage(tensor)) text += "storage " + tensor.name + " " + to_text(tensor.shape) + "\n";
    if (tensor.inside) text += tensor.name + " " + to_text(result, *tensor.inside) + "\n";
  }
  for (const TraceRecord& record : trace.records) {
    const TraceHeading at = heading_of(record);
    if (at.algorithm != "branches") continue;
    text += (at.outcome == TraceOutcome::accepted ? "+ " : "- ") + record.subject + " [" + at.rule + "] " +
            sentence(record) + "\n";
  }
  return text;
}

/// Every group of several operators that is a candidate of branches: its members, and the rules that it breaks.
std::string branch_candidates(const Graph& graph, const std::vector<FusionTemplate>& templates) {
  const CandidateSet set = find_candidate_groups(graph, templates, nullptr, {});
  std::string text;
  for (const CandidateGroup& candidate : set.candidates) {
    if (!is_horizontal(candidate.group)) continue;
    text += candidate.group.template_name + ": " + names_of(graph, candidate.group.operators);
    for (const Decision& broken : candidate.refusals) text += " [" + broken.rule + "]";
    text += "\n";
  }
  return text;
}

/// A strategy that takes the largest allowed groups of branches.
FusedGraph fused_branches(const Graph& graph) {
  const CandidateSet set = find_candidate_groups(graph, built_in_templates(), nullptr, {});
  std::vector<bool> taken(graph.operators().size(), false);
  FusedGraph fused{graph, {}};
  for (const CandidateGroup& candidate : set.candidates) {
    const auto& members = candidate.group.operators;
    const bool is_free = std::none_of(members.begin(), members.end(), [&](OpId op) { return taken[op.index()]; });
    if (!is_horizontal(candidate.group) || !candidate.allowed() || !is_free) continue;
    for (const OpId op : members) taken[op.index()] = true;
    fused.groups.push_back(candidate.group);
  }
  for (const OpId op : set.facts.order) {
    if (!taken[op.index()]) fused.groups.push_back(make_single(set.facts, op));
  }
  fused.groups = in_execution_order(set.facts, std::move(fused.groups));
  return with_stacks(std::move(fused));
}

void check_values(const FusedGraph& fused, unsigned seed) {
  REQUIRE(verify(fused).value_or("sound") == "sound");
  REQUIRE(verify(fused.graph).value_or("sound") == "sound");
  const Values inputs = random_inputs(fused.graph, seed);
  const Values expected = run_operators(fused.graph, inputs);
  const Values computed = run_groups(fused, inputs);
  for (const GraphTensor& tensor : fused.graph.tensors()) {
    const auto found = computed.find(tensor.name);
    if (!tensor.producer || found == computed.end()) continue;
    INFO(tensor.name);
    CHECK(relative_difference(found->second, expected.at(tensor.name)) <= 1e-6);
  }
}

TensorId shared_input(Net& net, Shape shape) { return net.op("Tanh", "shared", {net.input("x", std::move(shape))}); }

Graph two_convolutions() {
  Net net;
  const TensorId x = shared_input(net, {2, 3, 4, 4});
  return net.unplaced({net.op("Relu", "ra", {net.op("Sigmoid", "sa", {net.conv("a", x, 8)})}),
                       net.op("Tanh", "rb", {net.op("Sigmoid", "sb", {net.conv("b", x, 5)})})});
}

/// The branches of an inception module, pool projection left out.
Graph inception(std::int64_t batch) {
  Net net;
  const TensorId x = shared_input(net, {batch, 4, 6, 6});
  const TensorId one = net.op("Relu", "one_relu", {net.conv("one", x, 3)});
  const TensorId reduce3 = net.op("Relu", "reduce3_relu", {net.conv("reduce3", x, 2)});
  const TensorId three = net.op("Relu", "three_relu", {net.conv("three", reduce3, 4, 3)});
  const TensorId reduce5 = net.op("Relu", "reduce5_relu", {net.conv("reduce5", x, 1)});
  const TensorId five = net.op("Relu", "five_relu", {net.conv("five", reduce5, 2, 3)});
  const TensorId all = net.op("Concat", "all", {one, three, five}, {{"axis", std::int64_t{1}}});
  return net.unplaced({net.op("Relu", "after", {all})});
}

Graph attention_head() {
  Net net;
  const TensorId x = shared_input(net, {1, 5, 8});
  const auto projected = [&](const std::string& name, std::int64_t columns) {
    const TensorId y = net.op("MatMul", name, {x, net.constant(name + "_w", {8, columns})});
    return net.op("Add", name + "_biased", {y, net.constant(name + "_b", {columns})});
  };
  const TensorId q = projected("q", 6);
  const TensorId k = net.op("Transpose", "kt", {projected("k", 6)}, {{"perm", Ints{0, 2, 1}}});
  const TensorId v = projected("v", 4);
  const TensorId scores = net.op("Softmax", "softmax", {net.op("MatMul", "scores", {q, k})});
  return net.unplaced({net.op("MatMul", "mix", {scores, v})});
}

}  // namespace

TEST_CASE("results of branches lie side by side, also those of the operators that they have in common on the way") {
  CHECK(placed(two_convolutions()) == R"(a_out in a_out_and_branches from element 0 with strides [208, 16, 4, 1]
sa_out in sa_out_and_branches from element 0 with strides [208, 16, 4, 1]
b_out in a_out_and_branches from element 128 with strides [208, 16, 4, 1]
sb_out in sa_out_and_branches from element 128 with strides [208, 16, 4, 1]
storage sa_out_and_branches [2,13,4,4]
storage a_out_and_branches [2,13,4,4]
+ a [side-by-side] of sa_out, sb_out: sa_out, sb_out lie side by side in sa_out_and_branches
+ a [side-by-side] of a_out, b_out: a_out, b_out lie side by side in a_out_and_branches
)");
}

TEST_CASE("branches at the border of a concatenation lie beside it") {
  CHECK(placed(inception(1)) == R"(one_out in one_out_and_branches from element 0 with strides [216, 36, 6, 1]
one_relu_out in reduce3_relu_out_and_branches from element 108 with strides [432, 36, 6, 1]
reduce3_out in one_out_and_branches from element 108 with strides [216, 36, 6, 1]
reduce3_relu_out in reduce3_relu_out_and_branches from element 0 with strides [432, 36, 6, 1]
three_relu_out in reduce3_relu_out_and_branches from element 216 with strides [432, 36, 6, 1]
reduce5_out in one_out_and_branches from element 180 with strides [216, 36, 6, 1]
reduce5_relu_out in reduce3_relu_out_and_branches from element 72 with strides [432, 36, 6, 1]
five_relu_out in reduce3_relu_out_and_branches from element 360 with strides [432, 36, 6, 1]
all_out in reduce3_relu_out_and_branches from element 108 with strides [432, 36, 6, 1]
storage reduce3_relu_out_and_branches [1,12,6,6]
storage one_out_and_branches [1,6,6,6]
+ one [side-by-side] of one_relu_out, reduce3_relu_out, reduce5_relu_out: reduce3_relu_out, reduce5_relu_out, all_out lie side by side in reduce3_relu_out_and_branches
+ one [side-by-side] of one_out, reduce3_out, reduce5_out: one_out, reduce3_out, reduce5_out lie side by side in one_out_and_branches
)");
}

TEST_CASE("branches that are whole in a concatenation stay there") {
  Net net;
  const TensorId x = shared_input(net, {2, 3, 4, 4});
  const TensorId all = net.op("Concat", "all", {net.conv("a", x, 2), net.conv("b", x, 3)}, {{"axis", std::int64_t{1}}});
  const Graph graph = net.unplaced({net.op("Relu", "after", {all})});
  CHECK(placed(graph) == R"(a_out in all_out from element 0 with strides [80, 16, 4, 1]
b_out in all_out from element 32 with strides [80, 16, 4, 1]
- a [one-place] a_out, b_out stay where concatenations want them
)");
  CHECK(branch_candidates(place_tensors(graph, {}, 4), built_in_templates()) == "parallel_convolutions: a + b\n");
}

TEST_CASE("outputs of the network with gaps, and what a view needs without, stay apart") {
  Net net;
  const TensorId x = shared_input(net, {2, 3, 4, 4});
  CHECK(placed(net.unplaced({net.conv("a", x, 2), net.conv("b", x, 3)})) ==
        "- a [dense-boundary] a_out, b_out stay apart: a_out is an output of the network, which lies in memory without "
        "gaps\n");
  Net other;
  const TensorId y = shared_input(other, {2, 3, 4, 4});
  const TensorId flat = other.op("Reshape", "flat", {other.conv("a", y, 2)}, {{"shape", Ints{64}}});
  CHECK(placed(other.unplaced({other.op("Relu", "r", {flat}), other.op("Relu", "rb", {other.conv("b", y, 3)})})) ==
        "flat_out in a_out from element 0 with strides [1]\n"
        "- a [needed-dense] a_out, b_out stay apart: flat re-indexes a_out, which it cannot with gaps\n");
}

TEST_CASE("patterns of branches: every number of branches, every length, and each set of operators once") {
  CHECK(branch_candidates(place_tensors(inception(1), {}, 4), built_in_templates()) ==
        R"(parallel_convolutions: one + one_relu + reduce3 + reduce3_relu + reduce5 + reduce5_relu
parallel_convolutions: one + one_relu + reduce3 + reduce3_relu [branches-place]
parallel_convolutions: one + one_relu + reduce5 + reduce5_relu
parallel_convolutions: one + reduce3 + reduce5
parallel_convolutions: one + reduce3
parallel_convolutions: one + reduce5 [branches-place]
parallel_convolutions: reduce3 + reduce3_relu + reduce5 + reduce5_relu
parallel_convolutions: reduce3 + reduce5
)");
  CHECK(branch_candidates(place_tensors(attention_head(), {}, 4), built_in_templates()) ==
        R"(parallel_products: q + q_biased + k + k_biased + v + v_biased
parallel_products: q + q_biased + k + k_biased
parallel_products: q + q_biased + v + v_biased [branches-place]
parallel_products: q + k + v
parallel_products: q + k
parallel_products: q + v [branches-place]
parallel_products: k + k_biased + v + v_biased
parallel_products: k + v
)");
}

TEST_CASE("as one operator branches compute what they compute alone") {
  for (const Graph& graph : {two_convolutions(), inception(1), inception(2), attention_head()}) {
    const FusedGraph fused = fused_branches(place_tensors(graph, {}, 4));
    INFO(to_text(fused));
    CHECK(std::any_of(fused.groups.begin(), fused.groups.end(), is_horizontal));
    check_values(fused, 1);
  }
}

TEST_CASE("three branches as one convolution, in words") {
  const FusedGraph fused = fused_branches(place_tensors(inception(2), {}, 4));
  for (const FusedOperator& group : fused.groups) {
    if (!is_horizontal(group)) continue;
    CHECK(to_text(group_stages(fused.graph, group)) == R"(input shared_out f32[2,4,6,6]
constant reduce3_w_stack f32[6,4,1,1]
intermediate reduce3_out f32[2,6,6,6]
output reduce3_relu_out_stack f32[2,6,6,6] strides [432,36,6,1]
reduce3: reduce3_out[n<2, ff<6, yy<6, xx<6] = sum_{rc<4, ry<1, rx<1} (shared_out[n, rc, yy + ry, xx + rx] * reduce3_w_stack[ff, rc, ry, rx])
reduce3_relu: reduce3_relu_out_stack[n<2, ff<6, yy<6, xx<6] = max(reduce3_out[n, ff, yy, xx], 0.0)
)");
    // The order is the one in memory, where the first one is the concatenation's.
    REQUIRE(group.results.size() == 1);
    const TensorStack& results = group.results.front();
    std::string parts;
    for (const TensorId part : results.parts) parts += fused.graph.tensor(part).name + " ";
    CHECK(parts == "reduce3_relu_out reduce5_relu_out one_relu_out ");
  }
}

TEST_CASE("branches whose channels lie in blocks are stacked by blocks, their biases by as many elements") {
  Net net;
  const TensorId x = net.conv("shared", net.input("x", {1, 3, 6, 6}), 8);
  std::vector<std::optional<TensorId>> branches;
  for (const std::int64_t features : {8, 16}) {
    const std::string name = "conv" + std::to_string(features);
    const TensorId w = net.constant(name + "_w", {features, 8, 1, 1});
    branches.push_back(
        net.op("Relu", name + "_relu", {net.op("Conv", name, {x, w, net.constant(name + "_b", {features})})}));
  }
  const TensorId joined = net.op("Concat", "joined", branches, {{"axis", std::int64_t{1}}});
  Target target;
  target.cores.vector_lanes = 4;
  target.cores.count = 4;
  const Graph blocked = block_channels(net.unplaced(net.conv("last", joined, 3)), target, {});
  const FusedGraph fused = fused_branches(place_tensors(blocked, {}, 4));
  INFO(to_text(fused));
  const auto found = std::find_if(fused.groups.begin(), fused.groups.end(), is_horizontal);
  REQUIRE(found != fused.groups.end());
  const std::string text = to_text(group_stages(fused.graph, *found));
  CHECK(text.find("constant conv8_w_blocks_stack f32[3,8,1,1,8]\n") != std::string::npos);
  CHECK(text.find("constant conv8_b_stack f32[24]\n") != std::string::npos);
  check_values(fused, 1);
}

TEST_CASE("branches in blocks of different size are not alike") {
  Net net;
  const TensorId x = net.input("x", {1, 8, 6, 6});
  std::vector<TensorId> results;
  for (const std::int64_t block : {4, 8}) {
    const std::string name = "conv" + std::to_string(block);
    const TensorId w = net.constant(name + "_w", {16 / block, 8, 1, 1, block});
    results.push_back(
        net.op("Conv", name, {x, w, net.constant(name + "_b", {16})}, {{"channel_blocks", Ints{0, block}}}));
  }
  const Graph graph = place_tensors(net.unplaced(results), {}, 4);
  std::vector<StageList> lists;
  const std::vector<Branch> branches = {{OpId(0U)}, {OpId(1U)}};
  for (const Branch& branch : branches) lists.push_back(branch_stages(graph, branch));
  const auto stacked = stack_stages(graph, lists, branches);
  REQUIRE(std::holds_alternative<Decision>(stacked));
  CHECK(std::get<Decision>(stacked).rule == "branches-alike");
}

TEST_CASE("branches of a person's template: any number of branches, attributes as everywhere") {
  Diagnostics diagnostics;
  const auto templates = parse_templates(R"(
[[template]]
name = "threes"
branches = 6
[[template.vertex]]
name = "x"
role = "context"
kinds = ["Tanh"]
[[template.vertex]]
name = "conv"
role = "anchor"
kinds = ["Conv"]
where = { kernel_shape = 3 }
[[template.edge]]
from = "x"
to = "conv"
)",
                                         "threes.toml", diagnostics);
  REQUIRE(templates);
  CHECK(expand(templates->front()).size() == 5);
  Net net;
  const TensorId x = shared_input(net, {1, 3, 4, 4});
  std::vector<TensorId> outputs;
  for (int i = 0; i < 6; ++i) {
    outputs.push_back(net.op("Relu", "r" + std::to_string(i), {net.conv("c" + std::to_string(i), x, 1 + i, 3)}));
  }
  const CandidateSet set = find_candidate_groups(net.done(outputs), *templates, nullptr, {});
  std::size_t all = 0;
  std::size_t allowed = 0;
  for (const CandidateGroup& candidate : set.candidates) {
    if (!is_horizontal(candidate.group)) continue;
    ++all;
    allowed += candidate.allowed() ? 1 : 0;
  }
  CHECK(all == 15 + 20 + 15 + 6 + 1);   // of six operators two, three, four, five, six
  CHECK(allowed == 5 + 4 + 3 + 2 + 1);  // neighbours
}

TEST_CASE("random networks with branches: as groups they compute what the operators do") {
  int found = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    const FusedGraph fused = fused_branches(RandomNet(seed).make(4 + static_cast<int>(seed % 16)));
    for (const FusedOperator& group : fused.groups) found += is_horizontal(group) ? 1 : 0;
    check_values(fused, seed);
  }
  CHECK(found > 100);
}

TEST_CASE("a stack is what its parts are, one behind the other") {
  Net net;
  const std::vector<Tensor> parts = {net.random_tensor({2, 3, 2}), net.random_tensor({2, 1, 2}),
                                     net.random_tensor({2, 0, 2}), net.random_tensor({2, 4, 2})};
  const Tensor whole = concatenated(parts, 1);
  REQUIRE(whole.shape() == Shape{2, 8, 2});
  std::int64_t first = 0;
  for (const Tensor& part : parts) {
    const Tensor back = part_of(whole, 1, first, part.shape()[1]);
    CHECK(std::equal(back.bytes().begin(), back.bytes().end(), part.bytes().begin(), part.bytes().end()));
    first += part.shape()[1];
  }
  CHECK(whole.as_double(3 * 2) == parts[1].as_double(0));
  CHECK(whole.as_double(8 * 2) == parts[0].as_double(3 * 2));
}

TEST_CASE("branches may share an input of the network") {
  Net net;
  const TensorId x = net.input("x", {2, 3, 4, 4});
  const TensorId a = net.op("Sigmoid", "sa", {net.conv("a", x, 8)});
  const TensorId b = net.op("Sigmoid", "sb", {net.conv("b", x, 5)});
  const Graph graph = net.done({net.op("Relu", "ra", {a}), net.op("Tanh", "rb", {b}), net.conv("other", x, 3, 3)});
  CHECK(branch_candidates(graph, built_in_templates()) ==
        "parallel_convolutions: a + sa + b + sb + ra + rb [branches-alike]\n"
        "parallel_convolutions: a + sa + b + sb\n"
        "parallel_convolutions: a + b + other [branches-alike]\n"
        "parallel_convolutions: a + b\n"
        "parallel_convolutions: a + other [branches-alike]\n"
        "parallel_convolutions: b + other [branches-alike]\n");
  const FusedGraph fused = fused_branches(graph);
  CHECK(fused.groups.size() == 4);
  check_values(fused, 11);
}

TEST_CASE("branches of an input that is not their first operand, or of one read too seldom, are none") {
  Net net;
  const TensorId x = net.input("x", {4, 4});
  const TensorId y = net.input("y", {4, 4});
  const Graph graph = net.done({net.op("MatMul", "a", {net.constant("l", {4, 4}), x}),
                                net.op("MatMul", "b", {net.constant("m", {4, 4}), x}),
                                net.op("MatMul", "c", {y, net.constant("n", {4, 4})})});
  CHECK(branch_candidates(graph, built_in_templates()).empty());
}

TEST_CASE("branches with a parameter in common, or one that is computed, are refused by name") {
  for (const bool computed : {false, true}) {
    Net net;
    const TensorId x = net.input("x", {1, 3, 4, 4});
    const TensorId w =
        computed ? net.op("Tanh", "t", {net.input("in", {5, 3, 1, 1})}) : net.constant("w", {5, 3, 1, 1});
    const TensorId v = computed ? net.constant("v", {5, 3, 1, 1}) : w;
    const Graph graph = net.done({net.op("Conv", "a", {x, v}), net.op("Conv", "b", {x, w})});
    const CandidateSet set = find_candidate_groups(graph, built_in_templates(), nullptr, {});
    std::string reasons;
    for (const CandidateGroup& candidate : set.candidates) {
      if (!is_horizontal(candidate.group)) continue;
      for (const Decision& broken : candidate.refusals) reasons += broken.rule + ": " + broken.reason + "\n";
    }
    CHECK(reasons == (computed ? "branches-parameters: b reads t_out, which is no constant\n"
                               : "branches-parameters: b and a have w in common\n"));
  }
}
