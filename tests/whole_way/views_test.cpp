// SPDX-License-Identifier: Apache-2.0
// Views all the way: boxes in emitted code, emulated and compared, with predicted counts equal to the emulated ones.
#include <catch2/catch.hpp>

#include "tests/fusion/view_net.h"
#include "tests/whole_way/whole_way.h"

namespace stowage::test {
namespace {

using stowage::testing::Net;
using stowage::testing::ViewNet;
using Ints = std::vector<std::int64_t>;

std::int64_t kernels_of(const Compilation& compilation) { return totals_of(compilation.program).kernels; }

TensorId cut(Net& net, const std::string& name, TensorId x, std::int64_t axis, std::int64_t start, std::int64_t end) {
  return net.op("Slice", name, {x}, {{"axes", Ints{axis}}, {"starts", Ints{start}}, {"ends", Ints{end}}});
}

}  // namespace

TEST_CASE("an inception module of two images needs no kernel to join its branches") {
  Net net("inception");
  const TensorId x = net.input("x", {2, 16, 14, 14});
  const TensorId a = net.op("Relu", "a", {net.conv("conv_a", x, 8)});
  const TensorId b = net.op("Relu", "b", {net.conv("conv_b", net.op("Relu", "r", {net.conv("in_b", x, 4)}), 12, 3)});
  const TensorId c = net.op("MaxPool", "c", {x}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  const TensorId joined = net.op("Concat", "joined", {a, b, c}, {{"axis", std::int64_t{1}}});
  const Graph graph = net.done({net.op("Relu", "after", {net.conv("next", joined, 8, 3)})});
  const Compilation compilation = compiled(graph);
  std::vector<std::string> kernels;
  for (const ProgramStep& step : compilation.program.steps) {
    if (step.plan() != nullptr) kernels.push_back(step.group.name);
  }
  CHECK(kernels == std::vector<std::string>{"conv_a", "conv_b", "c", "next"});  // conv_b with what it reads
  checked_strictly(compilation, graph, 1);
}

TEST_CASE("a dense block reads and writes parts of one memory in one launch") {
  Net net("dense");
  const TensorId x = net.input("x", {2, 6, 8, 8});
  std::vector<std::optional<TensorId>> features = {net.conv("first", x, 5, 3)};
  TensorId last = *features[0];
  for (int i = 0; i < 3; ++i) {
    const std::string name = std::to_string(i);
    features.emplace_back(net.op("Relu", "relu" + name, {net.conv("conv" + name, last, 3, 3)}));
    last = net.op("Concat", "join" + name, features, {{"axis", std::int64_t{1}}});
  }
  const Graph graph = net.done({net.op("Relu", "after", {net.conv("next", last, 4)})});
  const Compilation compilation = compiled(graph);
  CHECK(kernels_of(compilation) == 5);
  checked_strictly(compilation, graph, 2);
}

TEST_CASE("a shuffle copies the half that it hands on, and queries, keys and values are read where they lie") {
  Net net("shuffle_and_split");
  const TensorId x = net.input("x", {2, 8, 6, 6});
  const TensorId mixed = net.op("Relu", "mixed", {x});
  const TensorId branch = net.op("Relu", "branch", {net.conv("conv", cut(net, "given", mixed, 1, 4, 8), 4, 3)});
  const TensorId both =
      net.op("Concat", "both", {cut(net, "kept", mixed, 1, 0, 4), branch}, {{"axis", std::int64_t{1}}});
  const TensorId rows = net.op("Reshape", "rows", {both}, {{"shape", Ints{2, 8, 36}}});
  const TensorId qkv = net.op("MatMul", "qkv", {rows, net.constant("w", {36, 60})});
  const TensorId q = cut(net, "q", qkv, 2, 0, 20);
  const TensorId k = cut(net, "k", qkv, 2, 20, 40);
  const TensorId v = cut(net, "v", qkv, 2, 40, 60);
  const TensorId scores =
      net.op("Softmax", "softmax",
             {net.op("MatMul", "scores", {q, net.op("Transpose", "kt", {k}, {{"perm", Ints{0, 2, 1}}})})});
  const Graph graph = net.done({net.op("MatMul", "mix", {scores, v})});
  CompileRequest request;
  request.fusion = "none";
  const Compilation compilation = compiled(graph, request);
  CHECK(kernels_of(compilation) == 9);  // mixed, kept, conv, branch, qkv, kt, scores, softmax, mix
  checked_strictly(compilation, graph, 3);
}

TEST_CASE("transposes that move nothing launch nothing, between reshapes and on both sides of a product") {
  Net net("turned");
  const auto transpose = [&](const std::string& name, TensorId x, const Ints& perm) {
    return net.op("Transpose", name, {x}, {{"perm", perm}});
  };
  const TensorId mixed = net.op("Relu", "mixed", {net.input("x", {1, 32, 8})});
  const TensorId rows = net.op("Reshape", "rows", {transpose("turn", mixed, {1, 0, 2})}, {{"shape", Ints{32, 8}}});
  const TensorId product = net.op("MatMul", "product", {rows, net.constant("w", {8, 4})});
  const TensorId back =
      transpose("back", net.op("Reshape", "apart", {product}, {{"shape", Ints{32, 1, 4}}}), {1, 0, 2});
  const TensorId squares = net.op("MatMul", "squares", {back, transpose("columns", back, {0, 2, 1})});
  const Graph graph = net.done({net.op("Tanh", "after", {transpose("last", squares, {1, 0, 2})})});
  const Compilation compilation = compiled(graph);
  CHECK(kernels_of(compilation) == 5);  // mixed, product, columns (which moves), squares, after
  checked_strictly(compilation, graph, 4);
}

TEST_CASE("random networks that mostly move elements agree with the reference and with their predicted counts") {
  for (const unsigned seed : {401U, 402U, 403U, 404U, 405U, 406U, 407U, 408U}) {
    INFO("seed " << seed);
    const Graph graph = ViewNet(seed).make(10);
    INFO(to_text(graph));
    checked_strictly(compiled(graph), graph, seed);
  }
}

}  // namespace stowage::test
