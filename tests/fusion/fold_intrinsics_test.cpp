// SPDX-License-Identifier: Apache-2.0
// Intrinsic fusion: the folded graph's text, its values against the unfolded graph's, and every refusal.
#include "fusion/fold/fold_intrinsics.h"

#include <catch2/catch.hpp>

#include "fusion/facts/parameters.h"
#include "tests/fusion/folded.h"

using namespace stowage;
using namespace stowage::testing;

namespace {

using Ints = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("batch normalisation, scale and bias fold into a convolution") {
  Net net;
  const TensorId x = net.input("x", {1, 3, 5, 5});
  const TensorId c = net.op("Conv", "conv", {x, net.constant("w", {4, 3, 3, 3}), net.constant("b", {4})});
  const TensorId scaled = net.op("Mul", "mul", {net.constant("factor", {4, 1, 1}), net.batch_norm("bn", c)});
  const TensorId less = net.op("Sub", "sub", {scaled, net.constant("minus", {1, 4, 1, 1})});
  const TensorId from = net.op("Sub", "from", {net.constant("plus", {1}), less});
  const TensorId y = net.op("Relu", "relu", {net.op("Div", "div", {from, net.constant("divisor", {4, 1, 1}, 1, 2)})});
  const Folded folded = fold(net.done({y}));
  CHECK(text_of(folded.graph) ==
        R"(Conv conv (x, w_folded, b_folded) -> div_out from node_conv node_bn node_mul node_sub node_from node_div
Relu relu (div_out) -> relu_out from node_relu
)");
  CHECK(folded.records == R"(+ conv [folded-scale] bn goes into the parameters of conv
+ conv [folded-scale] mul goes into the parameters of conv
+ conv [folded-scale] sub goes into the parameters of conv
+ conv [folded-scale] from goes into the parameters of conv
+ conv [folded-scale] div goes into the parameters of conv
)");
}

TEST_CASE("grouped and transposed convolutions scale the right channels") {
  Net net;
  const TensorId x = net.input("x", {1, 4, 3, 3});
  const TensorId grouped =
      net.op("Conv", "grouped", {x, net.constant("w1", {6, 2, 1, 1})}, {{"group", std::int64_t{2}}});
  const TensorId up = net.op("ConvTranspose", "up", {net.batch_norm("bn1", grouped), net.constant("w2", {6, 2, 2, 2})},
                             {{"group", std::int64_t{3}}, {"strides", Ints{2, 2}}});
  const Folded folded = fold(net.done({net.batch_norm("bn2", up)}));
  CHECK(text_of(folded.graph) == R"(Conv grouped (x, w1_folded, grouped_bias) -> bn1_out from node_grouped node_bn1
ConvTransposePhases up (bn1_out, w2_folded_phases, up_bias) -> bn2_out_phases from node_up node_bn2
Reshape bn2_out_view (bn2_out_phases) -> bn2_out from
)");
}

TEST_CASE("a Gemm's B is transposed once for all that share it, and takes scale and bias") {
  Net net;
  const TensorId x = net.input("x", {3, 4});
  const TensorId w = net.constant("w", {5, 4});
  const Attributes trans = {{"transB", std::int64_t{1}}, {"alpha", 0.5}, {"beta", 2.0}};
  const TensorId first = net.op("Gemm", "first", {x, w, net.constant("c", {5})}, trans);
  const TensorId second = net.op("Gemm", "second", {x, w}, trans);
  const TensorId third =
      net.op("Mul", "third_scale",
             {net.op("Gemm", "third", {x, w, net.constant("d", {1, 5})}, trans), net.constant("s", {5})});
  const TensorId fourth =
      net.op("Add", "fourth_bias", {net.op("Gemm", "fourth", {x, w}, trans), net.constant("t", {5})});
  const Folded folded = fold(net.done({first, second, third, fourth}));
  CHECK(text_of(folded.graph) == R"(Gemm first (x, w_transposed, c) -> first_out from node_first
Gemm second (x, w_transposed) -> second_out from node_second
Gemm third (x, w_folded, d_folded) -> third_scale_out from node_third node_third_scale
Gemm fourth (x, w_transposed, fourth_bias_2) -> fourth_bias_out from node_fourth node_fourth_bias
)");
  CHECK(folded.graph.tensor(*folded.graph.find_tensor("w_transposed")).shape == Shape{4, 5});
}

TEST_CASE("a matrix product takes a scale, but no summand") {
  Net net;
  const TensorId x = net.input("x", {2, 3, 4});
  const TensorId m = net.op("MatMul", "matmul", {x, net.constant("w", {4, 5})});
  const TensorId s = net.op("Mul", "scale", {m, net.constant("s", {1})});
  const Folded folded = fold(net.done({net.op("Add", "add", {s, net.constant("b", {5})})}));
  CHECK(text_of(folded.graph) == R"(MatMul matmul (x, w_folded) -> scale_out from node_matmul node_scale
Add add (scale_out, b) -> add_out from node_add
)");
  CHECK(folded.records == R"(+ matmul [folded-scale] scale goes into the parameters of matmul
- add [no-bias-operand] not folded into matmul: MatMul has no bias operand
)");
}

TEST_CASE("constants shared by equal operators are folded once") {
  Net net;
  const TensorId x = net.input("x", {1, 3, 4, 4});
  const TensorId w = net.constant("w", {4, 3, 1, 1});
  const TensorId s = net.constant("s", {4, 1, 1});
  const TensorId other = net.constant("other", {4, 1, 1});
  const TensorId a = net.op("Mul", "mul_a", {net.op("Conv", "a", {x, w}), s});
  const TensorId b = net.op("Mul", "mul_b", {net.op("Conv", "b", {x, w}), s});
  const TensorId c = net.op("Mul", "mul_c", {net.op("Conv", "c", {x, w}), other});
  const TensorId d = net.op("Conv", "d", {x, w});
  CHECK(text_of(fold(net.done({a, b, c, d})).graph) == R"(Conv a (x, w_folded) -> mul_a_out from node_a node_mul_a
Conv b (x, w_folded) -> mul_b_out from node_b node_mul_b
Conv c (x, w_folded_2) -> mul_c_out from node_c node_mul_c
Conv d (x, w) -> d_out from node_d
)");
}

TEST_CASE("a graph without anything to fold stays as it is") {
  Net net;
  const TensorId x = net.input("x", {1, 3, 4, 4});
  const Graph graph = net.done({net.op("Relu", "relu", {net.conv("conv", x, 4, 3)})});
  const Folded folded = fold(graph);
  CHECK(text_of(folded.graph) == text_of(graph));
  CHECK(folded.records.empty());
}

TEST_CASE("every reason against folding is recorded") {
  Net net;
  const TensorId x = net.input("x", {1, 4, 4, 4});
  const TensorId weights = net.input("weights", {4, 4, 1, 1});
  const TensorId read_twice = net.conv("read_twice", x, 4);
  const TensorId bn1 = net.batch_norm("bn1", read_twice);
  const TensorId output = net.conv("output", x, 4);
  const TensorId bn2 = net.batch_norm("bn2", output);
  const TensorId bn3 = net.batch_norm("bn3", net.op("Conv", "variable", {x, weights}));
  const TensorId along = net.op("Mul", "along", {net.conv("image", x, 4), net.constant("row", {1, 1, 1, 4})});
  const TensorId larger = net.op("Add", "larger", {net.op("GlobalAveragePool", "pool", {x}), x});
  const TensorId grown = net.op("Mul", "grown", {net.conv("single", larger, 1), net.constant("four", {4, 1, 1})});
  const TensorId zero = net.op("Div", "zero", {net.conv("divided", x, 4), net.value("nothing", {1}, {0})});
  const TensorId under = net.op("Div", "under", {net.constant("one", {1}, 1, 2), net.conv("divisor", x, 4)});
  const TensorId moved =
      net.op("Add", "moved",
             {net.op("Conv", "biased", {x, net.constant("bw", {4, 4, 1, 1}), net.input("bias", {4})}),
              net.constant("more", {4, 1, 1})});
  Trace trace;
  fold_intrinsics(net.done({bn1, read_twice, output, bn2, bn3, along, grown, zero, under, moved,
                            net.op("Relu", "reader", {read_twice})}),
                  TraceSink(&trace));
  std::string refused;
  for (const TraceRecord& record : trace.records) {
    const TraceHeading at = heading_of(record);
    CHECK(at.outcome == TraceOutcome::refused);
    refused += record.subject + " [" + at.rule + "] " + sentence(record) + "\n";
  }
  CHECK(refused == R"(bn1 [inner-use] not folded into read_twice: read_twice_out is an output of the network
bn2 [inner-use] not folded into output: output_out is an output of the network
bn3 [constant-weights] not folded into variable: weights is not constant
along [per-channel] not folded into image: row of shape [1,1,1,4] is not one value for each of 4 channels
grown [per-channel] not folded into single: it makes shape [1,4,4,4] of [1,1,4,4]
zero [finite] not folded into divided: a folded parameter would not be a finite number
under [per-channel] not folded into divisor: it divides a constant by the result
moved [constant-weights] not folded into biased: bias is not constant
)");
}

TEST_CASE("a result with a second reader keeps its batch normalisation") {
  Net net;
  const TensorId x = net.input("x", {1, 4, 4, 4});
  const TensorId c = net.conv("conv", x, 4);
  const Folded folded = fold(net.done({net.batch_norm("bn", c), net.op("Relu", "relu", {c})}));
  CHECK(folded.records == "- bn [inner-use] not folded into conv: conv_out is read by bn and relu\n");
}

TEST_CASE("zeros padded in front of a window go into its pads") {
  Net net;
  const TensorId x = net.input("x", {1, 2, 5, 5});
  const TensorId p1 = net.op("Pad", "pad1", {x}, {{"pads", Ints{0, 0, 1, 2, 0, 0, 3, 0}}});
  const TensorId c = net.op("Conv", "conv", {p1, net.constant("w", {3, 2, 3, 3})}, {{"pads", Ints{1, 0, 0, 1}}});
  const TensorId p2 = net.op("Pad", "pad2", {c, net.value("zero", {}, {0})}, {{"pads", Ints{0, 0, 1, 1, 0, 0, 1, 1}}});
  const TensorId a =
      net.op("AveragePool", "average", {p2}, {{"kernel_shape", Ints{3, 3}}, {"auto_pad", std::string("VALID")}});
  const Folded folded = fold(net.done({a}));
  CHECK(text_of(folded.graph) == R"(Conv conv (x, w) -> conv_out from node_pad1 node_conv
AveragePool average (conv_out) -> average_out from node_pad2 node_average
)");
  CHECK(ints_attribute(folded.graph.op(OpId(0)).attributes, "pads", {}) == Ints{2, 2, 3, 1});
  CHECK(int_attribute(folded.graph.op(OpId(1)).attributes, "count_include_pad", 0) == 1);
}

TEST_CASE("a Pad that a window cannot express stays") {
  const auto record_of = [](Attributes pad, const std::string& kind, Attributes window) {
    Net net;
    const TensorId x = net.input("x", {1, 2, 5, 5});
    const TensorId p = net.op("Pad", "pad", {x}, std::move(pad));
    std::vector<std::optional<TensorId>> operands = {p};
    if (kind == "Conv") {
      operands.emplace_back(net.constant("w", {3, net.shape(p)[1], 3, 3}));
    } else {
      window["kernel_shape"] = Ints{3, 3};
    }
    return fold(net.done({net.op(kind, "window", operands, std::move(window))})).records;
  };
  const Ints around = {0, 0, 1, 1, 0, 0, 1, 1};
  CHECK(record_of({{"pads", around}, {"value", 1.0}}, "Conv", {}) == "- pad [pad-value] it pads with 1\n");
  CHECK(record_of({{"pads", around}, {"mode", std::string("reflect")}}, "Conv", {}) ==
        "- pad [pad-value] it pads in mode reflect\n");
  CHECK(record_of({{"pads", Ints{0, 1, 1, 1, 0, 0, 1, 1}}}, "Conv", {}) ==
        "- pad [pad-place] it pads dimension 1, which no window runs along\n");
  CHECK(record_of({{"pads", Ints{0, 0, -1, 1, 0, 0, 1, 1}}}, "Conv", {}) ==
        "- pad [pad-place] it takes 1 element away\n");
  CHECK(record_of({{"pads", around}}, "Conv", {{"auto_pad", std::string("SAME_UPPER")}}) ==
        "- pad [auto-pad] window computes its own pads (SAME_UPPER)\n");
  CHECK(record_of({{"pads", around}}, "AveragePool", {{"ceil_mode", std::int64_t{1}}}) ==
        "- pad [ceil-mode] window rounds its extents up\n");
  CHECK(record_of({{"pads", around}}, "AveragePool", {{"pads", Ints{1, 1, 1, 1}}}) ==
        "- pad [count-include-pad] window does not count its own padding, but would count this\n");
}

TEST_CASE("a matrix is transposed whatever the size of its elements") {
  const std::vector<std::int64_t> values = {1, 2, 3, 4, 5, 6};
  CHECK(transposed(Tensor::of_int64s({2, 3}, values)).to_int64s() == std::vector<std::int64_t>{1, 4, 2, 5, 3, 6});
  Net net;
  const Tensor large = net.random_tensor({70, 45});
  const Tensor back = transposed(transposed(large));
  CHECK(back.shape() == large.shape());
  CHECK(std::equal(back.bytes().begin(), back.bytes().end(), large.bytes().begin()));
}
