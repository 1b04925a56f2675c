// SPDX-License-Identifier: Apache-2.0
// Pictures with channels in blocks, chosen for a network: who gets them, who does not and why, and values.
#include "fusion/fold/channel_blocks.h"

#include <catch2/catch.hpp>

#include "tests/fusion/folded.h"

using namespace stowage;
using namespace stowage::testing;

namespace {

using Ints = std::vector<std::int64_t>;

Target target_of(int lanes, int cores) {
  Target target;
  target.cores.vector_lanes = lanes;
  target.cores.count = cores;
  return target;
}

/// The graph with its records, and the values of its outputs held to those of the graph as it was.
Folded in_blocks(const Graph& graph, const Target& target = target_of(4, 4)) {
  Trace trace;
  Folded result{block_channels(graph, target, TraceSink(&trace)), {}};
  for (const TraceRecord& record : trace.records) {
    CHECK(algorithm_of(record) == TraceAlgorithm::layout);
    result.records += record.subject + ": " + sentence(record) + "\n";
  }
  check_same_outputs(graph, result.graph);
  return result;
}

}  // namespace

TEST_CASE("a residual block hands its pictures on in blocks") {
  Net net;
  const TensorId x = net.input("x", {1, 3, 9, 9});
  const TensorId first = net.op("Relu", "act", {net.conv("first", x, 16, 3)});
  const TensorId second = net.conv("second", first, 16, 3);
  const TensorId sum = net.op("Add", "sum", {second, first});
  const Folded blocked = in_blocks(net.unplaced(net.conv("last", sum, 5)));
  CHECK(text_of(blocked.graph) == R"(Conv first (x, first_w_blocks) -> first_out from node_first
Relu act (first_out) -> act_out from node_act
Conv second (act_out, second_w_blocks) -> second_out from node_second
Add sum (second_out, act_out) -> sum_out from node_sum
Conv last (sum_out, last_w) -> last_out from node_last
)");
  CHECK(shape_of(blocked.graph, "sum_out") == Shape{1, 2, 9, 9, 8});
  CHECK(shape_of(blocked.graph, "second_w_blocks") == Shape{2, 16, 3, 3, 8});
  CHECK(blocked.records ==
        "first: reads channels as ONNX has them, writes them in blocks of 8\n"
        "act: reads and writes channels in blocks of 8\n"
        "second: reads and writes channels in blocks of 8\n"
        "sum: reads and writes channels in blocks of 8\n"
        "last: reads channels in blocks of 8, writes them as ONNX has them\n");
}

TEST_CASE("one operator without a form for blocks keeps all that lie alike as they are") {
  Net net;
  const TensorId conv = net.conv("conv", net.input("x", {1, 8, 6, 6}), 16);
  const TensorId act = net.op("Relu", "act", {conv});
  const TensorId norm = net.op("LRN", "norm", {act}, {{"size", std::int64_t{3}}});
  const Folded blocked = in_blocks(net.unplaced({net.conv("last", norm, 8), net.conv("beside", act, 8)}));
  CHECK_FALSE(blocked.graph.find_tensor("conv_w_blocks").has_value());
  CHECK(blocked.records.find("norm (LRN) reads it as it is") != std::string::npos);
}

TEST_CASE("pictures of one pixel leave their blocks by a view") {
  Net net;
  const TensorId conv = net.conv("conv", net.input("x", {1, 8, 6, 6}), 16);
  const TensorId pool = net.op("GlobalAveragePool", "pool", {conv});
  const TensorId flat = net.op("Flatten", "flat", {pool});
  const TensorId pooled = net.op("GlobalMaxPool", "most", {conv});
  const Folded blocked = in_blocks(net.unplaced({net.op("MatMul", "fc", {flat, net.constant("w", {16, 4})}), pooled}));
  CHECK(shape_of(blocked.graph, "pool_out") == Shape{1, 2, 1, 1, 8});
  CHECK(shape_of(blocked.graph, "pool_out_view") == Shape{1, 16, 1, 1});
  CHECK(shape_of(blocked.graph, "most_out_blocks") == Shape{1, 2, 1, 1, 8});
  CHECK(shape_of(blocked.graph, "most_out") == Shape{1, 16, 1, 1});
}

TEST_CASE("depthwise convolutions, pools, concatenations and operands that are broadcast follow") {
  Net net;
  const TensorId conv = net.conv("conv", net.input("x", {2, 4, 8, 8}), 8, 3);
  const TensorId depthwise = net.op("Conv", "dw", {conv, net.constant("dw_w", {8, 1, 3, 3})},
                                    {{"group", std::int64_t{8}}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}});
  const TensorId pool = net.op("MaxPool", "pool", {conv}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  const TensorId joined = net.op("Concat", "join", {depthwise, pool}, {{"axis", std::int64_t{-3}}});
  const TensorId scaled = net.op("Mul", "scale", {joined, net.constant("per_channel", {16, 1, 1})});
  const TensorId gate = net.op("Sigmoid", "gate", {net.op("GlobalAveragePool", "mean", {scaled})});
  const TensorId gated = net.op("Mul", "gated", {scaled, gate});
  const TensorId row = net.op("Add", "row", {gated, net.constant("along_x", {4})});
  const Folded blocked = in_blocks(net.unplaced(net.conv("last", row, 4)));
  CHECK(shape_of(blocked.graph, "join_out") == Shape{2, 2, 4, 4, 8});
  CHECK(shape_of(blocked.graph, "dw_w_blocks") == Shape{1, 1, 3, 3, 8});
  CHECK(shape_of(blocked.graph, "per_channel_blocks") == Shape{1, 2, 1, 1, 8});
  CHECK(shape_of(blocked.graph, "along_x_blocks") == Shape{1, 1, 1, 4, 1});
  CHECK(shape_of(blocked.graph, "gate_out") == Shape{2, 2, 1, 1, 8});
  CHECK(shape_of(blocked.graph, "row_out") == Shape{2, 2, 4, 4, 8});
}

TEST_CASE("blocks are of two vectors, or of one where channels are no number of two") {
  const auto block = [](std::int64_t channels, std::int64_t pixels, const Target& target) {
    Net net;
    const TensorId conv = net.conv("conv", net.input("x", {1, 2, pixels, pixels}), channels);
    const Folded blocked = in_blocks(net.unplaced(net.conv("last", conv, 4)), target);
    const Shape shape = shape_of(blocked.graph, "conv_out");
    return shape.size() == 5 ? shape.back() : 0;
  };
  CHECK(block(16, 8, target_of(4, 64)) == 8);
  CHECK(block(16, 7, target_of(4, 64)) == 8);
  CHECK(block(12, 9, target_of(4, 64)) == 4);
  CHECK(block(6, 9, target_of(4, 64)) == 0);
  CHECK(block(6, 9, target_of(2, 64)) == 2);
  CHECK(block(16, 9, target_of(1, 64)) == 0);
}

TEST_CASE("weights that are no constants and grouped convolutions keep pictures as they are") {
  Net net;
  const TensorId x = net.input("x", {1, 8, 6, 6});
  const TensorId by_input = net.op("Conv", "by_input", {x, net.input("w", {8, 8, 1, 1})});
  const TensorId grouped = net.op("Conv", "grouped", {net.conv("conv", by_input, 8), net.constant("g", {8, 4, 1, 1})},
                                  {{"group", std::int64_t{2}}});
  const Folded blocked = in_blocks(net.unplaced(net.conv("last", grouped, 4)));
  CHECK(blocked.records ==
        "by_input_out: stays as ONNX has it: w is not constant\n"
        "conv_out: stays as ONNX has it: grouped (Conv) reads it as it is\n"
        "grouped_out: stays as ONNX has it: grouped (Conv) has no form for blocks\n");
}

TEST_CASE("a pool with indices and an operand of lower rank keep their pictures of one pixel") {
  Net net;
  const TensorId conv = net.conv("conv", net.input("x", {1, 8, 1, 1}), 8);
  const std::vector<TensorId> pooled = net.several("MaxPool", "pool", {conv}, 2, {{"kernel_shape", Ints{1, 1}}});
  const TensorId line = net.op("Relu", "line", {net.input("l", {8, 8, 1})});
  const TensorId sum = net.op("Add", "sum", {net.conv("beside", pooled[0], 8), line});
  const Folded blocked = in_blocks(net.unplaced({sum, pooled[1]}));
  CHECK(shape_of(blocked.graph, "pool_0") == Shape{1, 8, 1, 1});
  const Operator& pool = blocked.graph.op(blocked.graph.find_operator("pool").value());
  CHECK_FALSE(pool.attributes.contains("channel_blocks"));
}
