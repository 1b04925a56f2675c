// SPDX-License-Identifier: Apache-2.0
// Operators in their forms of several opsets: all become the one that the graph has.
#include <catch2/catch.hpp>

#include "core/operators.h"
#include "tests/onnx/text_model.h"

namespace stowage::test {
namespace {

/// The only operator of a graph, or a failed test.
Operator only_operator(const ImportOutcome& outcome) {
  INFO(outcome.text());
  REQUIRE(outcome.graph);
  REQUIRE(outcome.graph->operators().size() == 1);
  return outcome.graph->operators()[0];
}

std::vector<std::int64_t> ints_of(const Operator& op, const std::string& name) {
  return ints_attribute(op.attributes, name, {-12345});
}

}  // namespace

TEST_CASE("axes and shapes become attributes, from attributes and from operands", "[onnx][forms]") {
  SECTION("Squeeze and Unsqueeze") {
    const auto old =
        only_operator(import_text("g (float[1,2,1] x) => (float[2] y) { y = Squeeze<axes = [0, 2]>(x) }", 11));
    CHECK(ints_of(old, "axes") == std::vector<std::int64_t>{0, 2});
    const auto all = only_operator(import_text("g (float[1,2,1] x) => (float[2] y) { y = Squeeze(x) }", 11));
    CHECK(ints_of(all, "axes") == std::vector<std::int64_t>{0, 2});
    const auto recent = only_operator(import_text(
        "g (float[1,2,1] x) => (float[2,1] y) { a = Constant<value = int64[1] {-3}>() y = Squeeze(x, a) }", 13));
    CHECK(ints_of(recent, "axes") == std::vector<std::int64_t>{0});
    const auto unsqueeze = import_text(
        "g (float[2] x) => (float[2,1] y) { a = Constant<value = int64[2] {-1, 0}>() y = Unsqueeze(x, a) }", 13);
    CHECK(output_shape(unsqueeze) == Shape{1, 2, 1});
  }
  SECTION("Reductions") {
    const auto old = only_operator(
        import_text("g (float[2,3] x) => (float[2] y) { y = ReduceMean<axes = [-1], keepdims = 0>(x) }", 11));
    CHECK(ints_of(old, "axes") == std::vector<std::int64_t>{1});
    const auto recent = only_operator(import_text(
        "g (float[2,3] x) => (float[2,1] y) { a = Constant<value = int64[1] {1}>() y = ReduceMean(x, a) }", 18));
    CHECK(ints_of(recent, "axes") == std::vector<std::int64_t>{1});
    const auto all = only_operator(import_text("g (float[2,3] x) => (float[1,1] y) { y = ReduceSum(x) }", 13));
    CHECK(ints_of(all, "axes") == std::vector<std::int64_t>{0, 1});
    const auto none = only_operator(
        import_text("g (float[2,3] x) => (float[2,3] y) { y = ReduceSum<noop_with_empty_axes = 1>(x) }", 13));
    CHECK(ints_of(none, "axes").empty());
  }
  SECTION("Slice") {
    const auto old = only_operator(import_text(
        "g (float[4,5] x) => (float[2,5] y) { y = Slice<starts = [-3], ends = [9223372036854775807], axes = [0]>(x) }",
        9));
    CHECK(ints_of(old, "starts") == std::vector<std::int64_t>{1});
    CHECK(ints_of(old, "ends") == std::vector<std::int64_t>{4});
    const auto backwards = import_text(
        "g (float[4,5] x) => (float[4,5] y) { s = Constant<value = int64[1] {-1}>() e = Constant<value = int64[1] "
        "{-100}>()"
        " a = Constant<value = int64[1] {1}>() y = Slice(x, s, e, a, s) }",
        13);
    CHECK(output_shape(backwards) == Shape{4, 5});
  }
  SECTION("Split becomes slices") {
    const auto outcome = import_text(
        "g (float[5,2] x) => (float[2,2] a, float[3,2] b) { a, b = Split<axis = 0, split = [2, 3]>(x) }", 11);
    INFO(outcome.text());
    REQUIRE(outcome.graph);
    CHECK(outline(*outcome.graph) == "Slice[x] Slice[x]");
    CHECK(ints_of(outcome.graph->operators()[1], "starts") == std::vector<std::int64_t>{2});
    CHECK(outcome.graph->operators()[1].name == "Split_1/1");
    CHECK(import_text("g (float[5,2] x) => (float[2,2] a, float[3,2] b) { a, b = Split<axis = 0>(x) }", 11).codes() ==
          "shape-mismatch");
    const auto uneven = import_text(
        "g (float[5,2] x) => (float[3,2] a, float[2,2] b) { a, b = Split<axis = 0, num_outputs = 2>(x) }", 18);
    CHECK(output_shape(uneven) == Shape{3, 2});
  }
  SECTION("Reshape") {
    const auto reshape = [](const std::string& shape, const std::string& attributes, int opset) {
      return import_text(
          fmt::format("g (float[2,0,3] x) => (float y) {{ s = Constant<value = {}>() y = Reshape{}(x, s) }}", shape,
                      attributes),
          opset);
    };
    CHECK(output_shape(reshape("int64[3] {3, 0, 2}", "", 13)) == Shape{3, 0, 2});
    CHECK(output_shape(reshape("int64[2] {0, -1}", "", 13)) == Shape{2, 0});
    CHECK(output_shape(reshape("int64[2] {0, 7}", "<allowzero = 1>", 14)) == Shape{0, 7});
    CHECK(reshape("int64[2] {-1, -1}", "", 13).codes() == "invalid-shape");
    CHECK(reshape("int64[4] {2, 1, 3, 0}", "", 13).codes() == "shape-mismatch");
  }
  SECTION("Pad") {
    const auto old = only_operator(
        import_text("g (float[2,3] x) => (float[2,5] y) { y = Pad<pads = [0, 1, 0, 1], value = 2.5>(x) }", 10));
    CHECK(ints_of(old, "pads") == std::vector<std::int64_t>{0, 1, 0, 1});
    CHECK(float_attribute(old.attributes, "value", 0) == 2.5);
    const auto recent =
        only_operator(import_text("g (float[2,3] x) => (float[2,5] y) { p = Constant<value = int64[2] {1, 1}>() v = "
                                  "Constant<value = float {2.5}>()"
                                  " a = Constant<value = int64[1] {-1}>() y = Pad(x, p, v, a) }",
                                  18));
    CHECK(ints_of(recent, "pads") == std::vector<std::int64_t>{0, 1, 0, 1});
    CHECK(float_attribute(recent.attributes, "value", 0) == 2.5);
  }
}

TEST_CASE("older forms of element-wise operators become the newest one", "[onnx][forms]") {
  const auto old = import_text("g (float[2] x) => (float[2] y) { y = Clip<min = 0.0, max = 6.0>(x) }", 9);
  REQUIRE(old.graph);
  CHECK(outline(*old.graph) == "Clip[x,Clip_1/min,Clip_1/max]");
  const auto half =
      import_text("g (float[2] x) => (float[2] y) { m = Constant<value = float {6}>() y = Clip(x, , m) }", 11);
  INFO(half.text());
  REQUIRE(half.graph);
  CHECK(outline(*half.graph) == "Clip[x,-,m]");
  const auto flat = only_operator(import_text("g (float[2,3,4] x) => (float[2,3,4] y) { y = Softmax(x) }", 11));
  CHECK(ints_of(flat, "axes") == std::vector<std::int64_t>{1, 2});
  const auto last = only_operator(import_text("g (float[2,3,4] x) => (float[2,3,4] y) { y = Softmax(x) }", 13));
  CHECK(ints_of(last, "axes") == std::vector<std::int64_t>{2});
  const auto cast = only_operator(import_text("g (float[2] x) => (int64[2] y) { y = Cast<to = 7>(x) }"));
  CHECK(string_attribute(cast.attributes, "to", "") == "i64");
}

TEST_CASE("auto_pad becomes pads", "[onnx][forms]") {
  const auto conv = [](const std::string& mode) {
    return only_operator(import_text(fmt::format(
        "g (float[1,1,6,5] x, float[1,1,4,3] w) => (float y) {{ y = Conv<auto_pad = \"{}\", strides = [2, 2]>(x, w) }}",
        mode)));
  };
  CHECK(ints_of(conv("SAME_UPPER"), "pads") == std::vector<std::int64_t>{1, 1, 1, 1});
  CHECK(ints_of(conv("VALID"), "pads") == std::vector<std::int64_t>{0, 0, 0, 0});
  const auto pool = [](const std::string& mode) {
    return only_operator(import_text(fmt::format(
        "g (float[1,1,6,5] x) => (float y) {{ y = MaxPool<auto_pad = \"{}\", kernel_shape = [2, 2]>(x) }}", mode)));
  };
  CHECK(ints_of(pool("SAME_UPPER"), "pads") == std::vector<std::int64_t>{0, 0, 1, 1});
  CHECK(ints_of(pool("SAME_LOWER"), "pads") == std::vector<std::int64_t>{1, 1, 0, 0});
}

TEST_CASE("operators of training vanish or appear in inference form", "[onnx][forms]") {
  const auto dropout = import_text("g (float[2] x) => (float[2] y) { a = Dropout<ratio = 0.5>(x) y = Relu(a) }", 9);
  REQUIRE(dropout.graph);
  CHECK(outline(*dropout.graph) == "Relu[x]");
  const auto mask = import_text("g (float[2] x) => (float[2] y, bool[2] m) { a, m = Dropout(x) y = Relu(a) }", 13);
  INFO(mask.text());
  REQUIRE(mask.graph);
  CHECK(outline(*mask.graph) == "Relu[x] Identity[m/constant]");
  const auto norm = import_text(
      "g (float[1,2,3] x, float[2] s) => (float[1,2,3] y) { y, m, v, sm, sv = BatchNormalization<momentum = 0.5>(x, s, "
      "s, s, s) }",
      9);
  CHECK(only_operator(norm).attributes.size() == 1);
}

TEST_CASE("LayerNormalization's mean and inverse deviation are outputs of it, or operators without it",
          "[onnx][forms]") {
  const auto three = import_text(
      "g (float[2,4] x, float[4] s) => (float[2,4] y, float[2,1] m, float[2,1] d) { y, m, d = LayerNormalization(x, s) "
      "}",
      17);
  INFO(three.text());
  REQUIRE(three.graph);
  CHECK(outline(*three.graph) == "LayerNormalization[x,s]");
  CHECK(three.graph->op(OpId(0)).outputs.size() == 3);
  CHECK(three.graph->tensor(three.graph->outputs()[2]).name == "d");
  // Nobody reads the mean.
  const auto two = import_text(
      "g (float[2,4] x, float[4] s) => (float[2,4] y, float[2,1] d) { y, m, d = LayerNormalization(x, s) }", 17);
  REQUIRE(two.graph);
  CHECK(to_text(*two.graph).find("-> y f32[2,4], _, d f32[2,1]") != std::string::npos);
  const auto without = import_text(
      "g (float[2,4] x, float[4] s) => (float[2,1] m, float[2,1] d) { y, m, d = LayerNormalization(x, s) }", 17);
  REQUIRE(without.graph);
  CHECK(outline(*without.graph) == "ReduceMean[x] InvStdDev[x]");
}

TEST_CASE("outputs that only unused operators read are left out", "[onnx][forms]") {
  const auto outcome = import_text(
      "g (float[1,1,4,4] x) => (float[1,1,3,3] y) { y, i = MaxPool<kernel_shape = [2,2]>(x) unused = Neg(i) }", 13);
  INFO(outcome.text());
  REQUIRE(outcome.graph);
  CHECK(only_operator(outcome).outputs.size() == 1);
}

}  // namespace stowage::test
