// SPDX-License-Identifier: Apache-2.0
// Strategies on small graphs: what they make, and what they say about it.
#include <algorithm>

#include <catch2/catch.hpp>

#include "fusion/groups/fused_graph.h"
#include "fusion/groups/group_cost.h"
#include "fusion/strategies/strategy.h"
#include "tests/fusion/net.h"

using namespace stowage;
using stowage::testing::Net;

namespace {

FusedGraph fuse(std::string_view strategy, const Graph& graph, Trace* trace = nullptr,
                const GroupCost* cost = nullptr) {
  FusedGraph fused = find_strategy(strategy)->fuse(graph, built_in_templates(), cost, TraceSink(trace));
  CHECK(verify(fused) == std::nullopt);
  return fused;
}

std::string text_of(const Trace& trace) {
  std::string text;
  for (const TraceRecord& record : trace.records) {
    const TraceHeading at = heading_of(record);
    const char* outcome = at.outcome == TraceOutcome::accepted ? "+" : "-";
    text += std::string(outcome) + " " + record.subject + " [" + at.rule + "] " + sentence(record) + "\n";
    const auto* const refused = std::get_if<CandidateRefused>(&record.what);
    for (std::size_t i = 1; refused != nullptr && i < refused->broken.size(); ++i) {
      text += "    [" + refused->broken[i].rule + "] " + refused->broken[i].reason + "\n";
    }
  }
  return text;
}

/// A residual block and a classifier, as ResNets have them.
Graph residual_block() {
  Net net("block");
  const TensorId x = net.input("x", {1, 4, 6, 6});
  const TensorId first = net.op("Relu", "relu1", {net.batch_norm("bn1", net.conv("conv1", x, 4, 3))});
  const TensorId second = net.batch_norm("bn2", net.conv("conv2", first, 4, 3));
  const TensorId joined = net.op("Relu", "relu2", {net.op("Add", "add", {second, x})});
  const TensorId row = net.op("Flatten", "flatten", {net.op("GlobalAveragePool", "pool", {joined})});
  const TensorId y = net.op("Gemm", "fc", {row, net.constant("fc_w", {4, 10}), net.constant("fc_b", {10})});
  return net.done({net.op("Softmax", "softmax", {y})});
}

}  // namespace

TEST_CASE("greedy fuses a residual block") {
  Trace trace;
  CHECK(to_text(fuse("greedy", residual_block(), &trace)) == R"(block: 11 operators in 6 groups
conv1: convolution (x, conv1_w, bn1_scale, bn1_bias, bn1_mean, bn1_var) -> relu1_out
  Conv conv1 (anchor)
  BatchNormalization bn1 (epilogue)
  Relu relu1 (epilogue)
conv2: convolution (relu1_out, conv2_w, bn2_scale, bn2_bias, bn2_mean, bn2_var, x) -> relu2_out
  Conv conv2 (anchor)
  BatchNormalization bn2 (epilogue)
  Add add (epilogue)
  Relu relu2 (epilogue)
pool: single (relu2_out) -> pool_out
  GlobalAveragePool pool (anchor)
flatten: view (pool_out) -> flatten_out
  Flatten flatten (view)
fc: matmul (flatten_out, fc_w, fc_b) -> fc_out
  Gemm fc (anchor)
softmax: single (fc_out) -> softmax_out
  Softmax softmax (anchor)
)");
  CHECK(
      text_of(trace) ==
      R"(- convolution_pool [repeat-limit] longer chains than 2 operators at vertex act, as around pool, are no candidates
+ conv1 [convolution] template convolution takes conv1 + bn1 + relu1
+ conv2 [convolution] template convolution takes conv2 + bn2 + add + relu2
+ fc [matmul] template matmul takes fc
+ pool [single] pool is taken by no template
+ flatten [view] flatten only re-indexes
+ softmax [single] softmax is taken by no template
)");
}

TEST_CASE("none leaves every operator alone") {
  Net net("two");
  const TensorId x = net.input("x", {2, 8});
  const TensorId r = net.op("Relu", "relu", {x});
  const TensorId f = net.op("Reshape", "reshape", {r}, {{"shape", std::vector<std::int64_t>{4, 4}}});
  CHECK(to_text(fuse("none", net.done({net.op("Exp", "exp", {f})}))) == R"(two: 3 operators in 3 groups
relu: single (x) -> relu_out
  Relu relu (anchor)
reshape: view (relu_out) -> reshape_out
  Reshape reshape (view)
exp: single (reshape_out) -> exp_out
  Exp exp (anchor)
)");
}

TEST_CASE("greedy records why longer patterns were refused") {
  // relu is read by both the next convolution and the add behind it, as in every ResNet.
  Net net("skip");
  const TensorId x = net.input("x", {1, 4, 6, 6});
  const TensorId r = net.op("Relu", "relu", {net.conv("conv1", x, 4)});
  const TensorId a = net.op("Add", "add", {net.conv("conv2", r, 4), r});
  Trace trace;
  const FusedGraph fused = fuse("greedy", net.done({a}), &trace);
  CHECK(
      text_of(trace) ==
      R"(- conv1 [inner-use] template convolution on conv1 + relu + add: relu_out, the result of relu, is also read by conv2 outside the group
    [convex] a path leaves the group and comes back through conv2 to add
+ conv1 [convolution] template convolution takes conv1 + relu
+ conv2 [convolution] template convolution takes conv2 + add
)");
}

TEST_CASE("the first of two convolutions takes the add that joins them") {
  Net net("join");
  const TensorId x = net.input("x", {1, 4, 6, 6});
  const TensorId a = net.op("Add", "add", {net.conv("left", x, 4), net.conv("right", x, 4)});
  Trace trace;
  const FusedGraph fused = fuse("greedy", net.done({a}), &trace);
  CHECK(to_text(fused) == R"(join: 3 operators in 2 groups
right: convolution (x, right_w) -> right_out
  Conv right (anchor)
left: convolution (x, left_w, right_out) -> add_out
  Conv left (anchor)
  Add add (epilogue)
)");
  CHECK(text_of(trace) == R"(+ left [convolution] template convolution takes left + add
- right [taken] template convolution on right + add: add already belongs to left
+ right [convolution] template convolution takes right
)");
}

namespace {

/// Allows groups of at most so many operators.
class SmallGroups : public GroupCost {
 public:
  explicit SmallGroups(std::size_t maximum) : maximum_(maximum) {}
  [[nodiscard]] Answer cost(const Graph&, const FusedOperator& group) const override {
    if (group.operators.size() <= maximum_) return {Decision::allow(), 1};
    return {Decision::refuse("ldm-capacity", "needs " + std::to_string(100 * group.operators.size()) + " KiB, has " +
                                                 std::to_string(100 * maximum_) + " KiB"),
            0};
  }

 private:
  std::size_t maximum_;
};

}  // namespace

TEST_CASE("a group that costs too much gives way to the next shorter one") {
  Net net("costly");
  const TensorId x = net.input("x", {1, 4, 6, 6});
  const TensorId r = net.op("Relu", "relu", {net.conv("conv", x, 4)});
  const TensorId s = net.op("Sigmoid", "sigmoid", {r});
  const SmallGroups cost(2);
  Trace trace;
  const FusedGraph fused = fuse("greedy", net.done({s}), &trace, &cost);
  CHECK(text_of(trace) ==
        R"(- conv [ldm-capacity] template convolution on conv + relu + sigmoid: needs 300 KiB, has 200 KiB
+ conv [convolution] template convolution takes conv + relu
+ sigmoid [single] sigmoid is taken by no template
)");
}

TEST_CASE("element-wise chains, depthwise convolutions and reductions have their templates") {
  Net net("mixed");
  const TensorId x = net.input("x", {1, 4, 8, 8});
  const TensorId d = net.op("Conv", "depthwise", {x, net.constant("dw", {4, 1, 3, 3})}, {{"group", std::int64_t{4}}});
  const TensorId c = net.op("Clip", "clip", {d}, {{"min", 0.0}, {"max", 6.0}});
  const TensorId p = net.op("MaxPool", "pool", {c}, {{"kernel_shape", std::vector<std::int64_t>{2, 2}}});
  const TensorId t = net.op("Transpose", "transpose", {net.op("Tanh", "tanh", {p})},
                            {{"perm", std::vector<std::int64_t>{0, 2, 3, 1}}});
  const TensorId e = net.op("Mul", "mul", {net.op("Exp", "exp", {t}), net.constant("factors", {4})});
  CHECK(to_text(fuse("greedy", net.done({e}))) == R"(mixed: 7 operators in 4 groups
depthwise: depthwise (x, dw) -> clip_out
  Conv depthwise (anchor)
  Clip clip (epilogue)
pool: reduction (clip_out) -> tanh_out
  MaxPool pool (anchor)
  Tanh tanh (epilogue)
transpose: single (tanh_out) -> transpose_out
  Transpose transpose (anchor)
exp: element_wise (transpose_out, factors) -> mul_out
  Exp exp (anchor)
  Mul mul (epilogue)
)");
}

TEST_CASE("unknown strategies are nobody") {
  CHECK(find_strategy("gready") == nullptr);
  for (const std::string& name : strategy_names()) CHECK(find_strategy(name)->name() == name);
}

TEST_CASE("the verifier names what is wrong with a fused graph") {
  const FusedGraph right = fuse("greedy", residual_block());
  const auto broken = [&](auto&& change) {
    FusedGraph fused = right;
    change(fused.groups);
    return verify(fused).value_or("nothing");
  };
  using Groups = std::vector<FusedOperator>;
  CHECK(broken([](Groups& g) { g.pop_back(); }) == "no group holds softmax");
  CHECK(broken([](Groups& g) { g[1].name = "conv1"; }) == "two groups are called conv1");
  CHECK(broken([](Groups& g) { std::swap(g[0], g[1]); }) ==
        "group conv2: it reads relu1_out before a group has written it");
  CHECK(broken([](Groups& g) { g[0].roles.pop_back(); }) == "group conv1: 2 roles for 3 operators");
  CHECK(broken([](Groups& g) { g[0].inputs.pop_back(); }) ==
        "group conv1: its inputs are not what it reads from outside");
  CHECK(broken([](Groups& g) { g[0].results = g[1].results; }) == "group conv1: its output is not its last operator's");
  CHECK(broken([](Groups& g) { std::swap(g[0].operators[0], g[0].operators[1]); }) ==
        "group conv1: bn1 comes before conv1, whose result it reads");
  CHECK(broken([](Groups& g) { g[1].operators[0] = g[0].operators[0]; }) == "group conv2: conv1 is held twice");
}

TEST_CASE("a view is known by its kind, whatever its template is called") {
  FusedGraph fused = fuse("greedy", residual_block());
  FusedOperator& conv = fused.groups.front();
  const auto flatten = std::find_if(fused.groups.begin(), fused.groups.end(),
                                    [](const FusedOperator& group) { return group.name == "flatten"; });
  REQUIRE(flatten != fused.groups.end());
  CHECK(flatten->is_view);
  CHECK_FALSE(conv.is_view);
  flatten->template_name = "by-hand";
  conv.template_name = "view";
  CHECK(verify(fused) == std::nullopt);
  conv.is_view = true;
  CHECK(verify(fused).value_or("").ends_with("it is marked as a view, and is none"));
  conv.is_view = false;
  flatten->is_view = false;
  CHECK(verify(fused).value_or("").ends_with("it is a view, and not marked as one"));
}
