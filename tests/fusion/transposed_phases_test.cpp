// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions by phases: weights by hand, what moves behind them, refusals, and values of random ones.
#include "fusion/fold/transposed_phases.h"

#include <catch2/catch.hpp>

#include "tests/fusion/folded.h"
#include "tests/fusion/transposed_net.h"

using namespace stowage;
using namespace stowage::testing;

namespace {

using Ints = std::vector<std::int64_t>;

std::vector<double> values_of(const Graph& graph, const std::string& constant) {
  const Tensor& value = *graph.tensor(graph.find_tensor(constant).value()).constant;
  std::vector<double> values;
  for (std::int64_t i = 0; i < value.size(); ++i) values.push_back(value.as_double(i));
  return values;
}

bool has_phases(const Graph& graph) {
  const auto operators = graph.operators();
  return std::any_of(operators.begin(), operators.end(),
                     [](const Operator& op) { return op.kind == "ConvTransposePhases"; });
}

}  // namespace

TEST_CASE("the weights of a transposed convolution are sorted by phases") {
  Net net;
  const TensorId x = net.input("x", {1, 1, 3});
  const TensorId w = net.value("w", {1, 1, 4}, {1, 2, 3, 4});
  const Graph graph = net.unplaced(net.op("ConvTranspose", "up", {x, w}, {{"strides", Ints{2}}, {"pads", Ints{1, 1}}}));
  const Folded folded = fold(graph);
  CHECK(text_of(folded.graph) == R"(ConvTransposePhases up (x, w_phases) -> up_out_phases from node_up
Reshape up_out_view (up_out_phases) -> up_out from
)");
  CHECK(folded.records ==
        "+ up [by-phases] it is computed by phases: outputs that meet the same taps are a convolution of stride 1\n");
  // Element 2q of the output is element 2q + 1 before one is cut off: x[q-1] w[3] + x[q] w[1].
  // Element 2q + 1 is element 2q + 2: x[q] w[2] + x[q+1] w[0].
  CHECK(shape_of(folded.graph, "w_phases") == Shape{1, 2, 1, 2});
  CHECK(values_of(folded.graph, "w_phases") == std::vector<double>{4, 2, 3, 1});
  CHECK(shape_of(folded.graph, "up_out_phases") == Shape{1, 1, 3, 2});
  CHECK(shape_of(folded.graph, "up_out") == Shape{1, 1, 6});
}

TEST_CASE("phases with fewer taps than others have zeros") {
  Net net;
  const TensorId x = net.input("x", {1, 2, 2});
  const TensorId w = net.value("w", {2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const TensorId v = net.value("v", {2, 1, 1}, {1, 2});
  const TensorId up = net.op("ConvTranspose", "up", {x, w}, {{"strides", Ints{2}}, {"output_padding", Ints{1}}});
  const TensorId wide = net.op("ConvTranspose", "wide", {x, v},
                               {{"strides", Ints{3}}, {"output_padding", Ints{2}}, {"group", std::int64_t{2}}});
  const Folded folded = fold(net.unplaced({up, wide}));
  // Feature 0 of the first channel has taps 1 2 3: phase 0 the taps 3 and 1, phase 1 none and 2.
  CHECK(shape_of(folded.graph, "w_phases") == Shape{2, 2, 2, 2});
  CHECK(values_of(folded.graph, "w_phases") == std::vector<double>{3, 1, 9, 7, 0, 2, 0, 8, 6, 4, 12, 10, 0, 5, 0, 11});
  // A kernel smaller than the stride: two phases of three meet nothing.
  CHECK(shape_of(folded.graph, "v_phases") == Shape{2, 3, 1, 1});
  CHECK(values_of(folded.graph, "v_phases") == std::vector<double>{1, 0, 0, 2, 0, 0});
}

TEST_CASE("element-wise operators behind a transposed convolution take its dimensions") {
  Net net;
  const TensorId x = net.input("x", {1, 3, 4, 5});
  const TensorId skip = net.input("skip", {1, 4, 8, 10});
  const TensorId row = net.input("row", {10});
  const Attributes stride = {{"strides", Ints{2, 2}}};
  const TensorId up = net.op("ConvTranspose", "up", {x, net.constant("w", {3, 4, 2, 2})}, stride);
  const TensorId sum = net.op("Add", "sum", {skip, up});
  const TensorId scaled = net.op("Mul", "scaled", {sum, row});
  const TensorId bounded =
      net.op("Clip", "bounded", {scaled, net.constant("low", Tensor::scalar(ElementType::f32, -1.0))});
  const TensorId sloped = net.op("PRelu", "sloped", {bounded, net.constant("slope", {4, 1, 1})});
  const TensorId again = net.op("Neg", "again", {sloped});
  const TensorId pooled = net.op("GlobalMaxPool", "pooled", {sloped});
  const Folded folded = fold(net.unplaced({again, pooled}));
  CHECK(text_of(folded.graph) == R"(ConvTransposePhases up (x, w_phases) -> up_out from node_up
Reshape skip_phases (skip) -> skip_phases from
Add sum (skip_phases, up_out) -> sum_out from node_sum
Reshape row_phases (row) -> row_phases from
Mul scaled (sum_out, row_phases) -> scaled_out from node_scaled
Clip bounded (scaled_out, low) -> bounded_out from node_bounded
PRelu sloped (bounded_out, slope_phases) -> sloped_out from node_sloped
Reshape sloped_out_view (sloped_out) -> sloped_out_view from
Neg again (sloped_out_view) -> again_out from node_again
GlobalMaxPool pooled (sloped_out_view) -> pooled_out from node_pooled
)");
  CHECK(shape_of(folded.graph, "skip_phases") == Shape{1, 4, 4, 2, 5, 2});
  CHECK(shape_of(folded.graph, "row_phases") == Shape{5, 2});
  CHECK(shape_of(folded.graph, "slope_phases") == Shape{4, 1, 1, 1, 1});
  CHECK(shape_of(folded.graph, "sloped_out") == Shape{1, 4, 4, 2, 5, 2});
}

TEST_CASE("weights that two transposed convolutions share are sorted once, and both results may be added") {
  Net net;
  const TensorId x = net.input("x", {1, 3, 4});
  const TensorId y = net.input("y", {1, 3, 4});
  const TensorId w = net.constant("w", {3, 2, 3});
  const Attributes attributes = {{"strides", Ints{2}}, {"auto_pad", "SAME_UPPER"}};
  const TensorId a = net.op("ConvTranspose", "a", {x, w}, attributes);
  const TensorId b = net.op("ConvTranspose", "b", {y, w}, attributes);
  const Folded folded = fold(net.unplaced(net.op("Softmax", "soft", {net.op("Add", "sum", {a, b})})));
  CHECK(text_of(folded.graph) == R"(ConvTransposePhases a (x, w_phases) -> a_out from node_a
ConvTransposePhases b (y, w_phases) -> b_out from node_b
Add sum (a_out, b_out) -> sum_out from node_sum
Reshape sum_out_view (sum_out) -> sum_out_view from
Softmax soft (sum_out_view) -> soft_out from node_soft
)");
}

TEST_CASE("where strides do not divide the extents the phases are cut, and operands of these extents stay apart") {
  Net net;
  const TensorId x = net.input("x", {1, 2, 4});
  const TensorId up =
      net.op("ConvTranspose", "up", {x, net.constant("w", {2, 2, 2})}, {{"strides", Ints{2}}, {"pads", Ints{0, 1}}});
  const TensorId relu = net.op("Relu", "relu", {up});
  const TensorId sum = net.op("Add", "sum", {relu, net.input("skip", {1, 2, 7})});
  const TensorId out = net.op("ConvTranspose", "out", {sum, net.constant("v", {2, 1, 3})}, {{"strides", Ints{2}}});
  const Folded folded = fold(net.unplaced(net.op("Relu", "last", {out})));
  CHECK(text_of(folded.graph) == R"(ConvTransposePhases up (x, w_phases) -> up_out from node_up
Relu relu (up_out) -> relu_out from node_relu
Reshape relu_out_view (relu_out) -> relu_out_view from
Slice relu_out_cut (relu_out_view) -> relu_out_cut from
Add sum (relu_out_cut, skip) -> sum_out from node_sum
ConvTransposePhases out (sum_out, v_phases) -> out_out from node_out
Relu last (out_out) -> last_out_phases from node_last
Reshape last_out_view (last_out_phases) -> last_out_view from
Slice last_out_cut (last_out_view) -> last_out from
)");
  CHECK(shape_of(folded.graph, "relu_out") == Shape{1, 2, 4, 2});
  CHECK(shape_of(folded.graph, "relu_out_cut") == Shape{1, 2, 7});
}

TEST_CASE("transposed convolutions that stay as they are say why") {
  Net net;
  const TensorId x = net.input("x", {1, 2, 4});
  const TensorId w = net.constant("w", {2, 2, 2});
  const Attributes stride = {{"strides", Ints{2}}};
  const std::vector<TensorId> outputs = {
      net.op("ConvTranspose", "given", {x, net.input("weights", {2, 2, 2})}, stride),
      net.op("ConvTranspose", "apart", {x, w}, {{"strides", Ints{2}}, {"dilations", Ints{2}}}),
      net.op("ConvTranspose", "far", {x, net.constant("v", {2, 2, 2})}, {{"strides", Ints{33}}}),
      net.op("ConvTranspose", "no_stride", {x, w})};
  const Folded folded = fold(net.unplaced(outputs));
  CHECK_FALSE(has_phases(folded.graph));
  CHECK(folded.records == R"(- given [constant-weights] weights is not constant
- apart [adjacent-taps] its taps are 2 elements apart
- far [few-zeros] 2 taps would become 33 taps, all others zeros
)");
}

TEST_CASE("random transposed convolutions by phases have the same values") {
  const unsigned first = 20261125;
  WARN("seeds from " << first);
  int by_phases = 0;
  for (unsigned seed = first; seed < first + 300; ++seed) {
    INFO("seed " << seed);
    by_phases += has_phases(fold(transposed_net(seed)).graph) ? 1 : 0;
  }
  CHECK(by_phases > 200);
}
