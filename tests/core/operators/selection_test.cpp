// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "run_operator.h"

using namespace stowage;
using namespace stowage::test;

namespace {

using V = std::vector<double>;

/// Resize of a vector; attributes besides mode and scales as name, value pairs.
V resized(const std::vector<float>& x, Attributes attributes) {
  return values(run("Resize", attributes, {floats({static_cast<std::int64_t>(x.size())}, x)}));
}

void check_near(const V& found, const V& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    CHECK(std::abs(found[i] - wanted[i]) <= 1e-6 * std::max(1.0, std::abs(wanted[i])));
}

using Floats = std::vector<double>;

}  // namespace

TEST_CASE("Gather picks along any axis, negative indices from the end", "[Gather]") {
  const Tensor data = counting({3, 2});
  check_floats(run("Gather", {}, {data, integers(i64, {2, 1}, {2, -3})}), {2, 1, 2}, {4, 5, 0, 1});
  check_floats(run("Gather", {{"axis", std::int64_t{-1}}}, {data, integers(ElementType::i32, {}, {1})}), {3},
               {1, 3, 5});
  check_floats(run("Gather", {}, {data, integers(i64, {0}, {})}), {0, 2}, {});
  CHECK(fusion_kind(define("Gather", {}, {data, integers(i64, {1}, {0})}).list) == FusionKind::opaque);
  CHECK(refusal("Gather", {}, {data, counting({1})}) == "[type-mismatch] indices are f32, integers were wanted");
}

TEST_CASE("Gather refuses constant indices that point outside", "[Gather]") {
  Operator op;
  op.kind = "Gather";
  const StageTensor data{"data", ElementType::f32, {3}, TensorRole::input, {}, {}};
  const StageTensor indices{"i", i64, {1}, TensorRole::constant, integers(i64, {1}, {3}), {}};
  Diagnostics diagnostics;
  CHECK_FALSE(define_operator(op, std::vector<std::optional<StageTensor>>{data, indices}, {}, diagnostics));
  REQUIRE(diagnostics.entries().size() == 1);
  CHECK(diagnostics.entries()[0].message == "index 3 along axis 0 of [3]");
}

TEST_CASE("Pad with a constant, from attribute or operand", "[Pad]") {
  const Tensor x = counting({2, 2});
  check_floats(run("Pad", {{"pads", Ints{0, 1, 1, 0}}}, {x}), {3, 3}, {0, 0, 1, 0, 2, 3, 0, 0, 0});
  check_floats(run("Pad", {{"pads", Ints{0, 1, 0, 0}}, {"value", 7.0}}, {x}), {2, 3}, {7, 0, 1, 7, 2, 3});
  check_floats(run("Pad", {{"pads", Ints{1, 0, 0, 1}}}, {x, floats({}, {9})}), {3, 3}, {9, 9, 9, 0, 1, 9, 2, 3, 9});
  check_integers(run("Pad", {{"pads", Ints{1, 0}}, {"value", -1.0}}, {integers(i64, {1}, {5})}), i64, {2}, {-1, 5});
}

TEST_CASE("Pad with negative numbers cuts", "[Pad]") {
  check_floats(run("Pad", {{"pads", Ints{-1, 1}}}, {counting({3})}), {3}, {1, 2, 0});
  check_floats(run("Pad", {{"pads", Ints{-1, -1}}, {"mode", "edge"}}, {counting({3})}), {1}, {1});
  check_floats(run("Pad", {{"pads", Ints{-1, 2}}, {"mode", "edge"}}, {counting({3})}), {4}, {1, 2, 2, 2});
  CHECK(refusal("Pad", {{"pads", Ints{-2, -2}}}, {counting({3})}) ==
        "[shape-mismatch] padding leaves -1 elements of 3");
  CHECK(refusal("Pad", {{"pads", Ints{INT64_MIN, 0}}}, {counting({3})}) ==
        "[bad-attribute] a padding of -9223372036854775808");
}

TEST_CASE("Pad by reflection, edge and wrapping around", "[Pad]") {
  const Tensor x = counting({3});
  check_floats(run("Pad", {{"pads", Ints{2, 3}}, {"mode", "reflect"}}, {x}), {8}, {2, 1, 0, 1, 2, 1, 0, 1});
  check_floats(run("Pad", {{"pads", Ints{2, 1}}, {"mode", "edge"}}, {x}), {6}, {0, 0, 0, 1, 2, 2});
  check_floats(run("Pad", {{"pads", Ints{2, 4}}, {"mode", "wrap"}}, {x}), {9}, {1, 2, 0, 1, 2, 0, 1, 2, 0});
  check_floats(run("Pad", {{"pads", Ints{1, 1}}, {"mode", "reflect"}}, {counting({1})}), {3}, {0, 0, 0});
  CHECK(refusal("Pad", {{"pads", Ints{1, 1}}, {"mode", "mirror"}}, {x}) ==
        "[bad-attribute] attribute mode is 'mirror'");
  CHECK(refusal("Pad", {{"pads", Ints{1, 1}}, {"mode", "edge"}}, {counting({0})}) ==
        "[shape-mismatch] dimension 0 of [0] has nothing to pad with");
}

TEST_CASE("Resize by the nearest element, in every mode", "[Resize]") {
  const std::vector<float> x = {0, 1, 2, 3};
  const auto nearest = [&](const std::string& coordinates, const std::string& rounding, double scale) {
    return resized(
        x, {{"scales", Floats{scale}}, {"coordinate_transformation_mode", coordinates}, {"nearest_mode", rounding}});
  };
  CHECK(nearest("half_pixel", "round_prefer_floor", 2) == V{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(nearest("asymmetric", "floor", 2) == V{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(nearest("asymmetric", "ceil", 2) == V{0, 1, 1, 2, 2, 3, 3, 3});
  CHECK(nearest("asymmetric", "round_prefer_floor", 2) == V{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(nearest("asymmetric", "round_prefer_ceil", 2) == V{0, 1, 1, 2, 2, 3, 3, 3});
  CHECK(nearest("align_corners", "round_prefer_floor", 2) == V{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(nearest("tf_half_pixel_for_nn", "floor", 0.5) == V{1, 3});
  CHECK(nearest("half_pixel", "floor", 0.5) == V{0, 2});
  CHECK(nearest("pytorch_half_pixel", "floor", 0.25) == V{0});
  // 4 * 0.6 is 2.4: two elements, sampled at the given scale.
  CHECK(nearest("asymmetric", "floor", 0.6) == V{0, 1});
  CHECK(resized(x, {{"sizes", Ints{2}}, {"nearest_mode", "floor"}}) == V{0, 2});
  check_integers(run("Resize", {{"scales", Floats{2}}}, {integers(ElementType::i8, {2}, {5, -5})}), ElementType::i8,
                 {4}, {5, 5, -5, -5});
}

TEST_CASE("Resize linearly between two neighbours", "[Resize]") {
  const std::vector<float> x = {0, 4};
  const auto linear = [&](const std::string& coordinates, std::int64_t size) {
    return resized(x, {{"mode", "linear"}, {"sizes", Ints{size}}, {"coordinate_transformation_mode", coordinates}});
  };
  check_near(linear("half_pixel", 4), {0, 1, 3, 4});
  check_near(linear("align_corners", 3), {0, 2, 4});
  check_near(linear("asymmetric", 4), {0, 2, 4, 4});
  check_near(linear("pytorch_half_pixel", 1), {0});
  check_near(linear("half_pixel", 1), {2});
  // Two dimensions at once: the mean of all four corners in the middle.
  const Tensor square = floats({1, 1, 2, 2}, {0, 1, 2, 3});
  check_floats(
      run("Resize",
          {{"mode", "linear"}, {"scales", Floats{1, 1, 1.5, 1.5}}, {"coordinate_transformation_mode", "align_corners"}},
          {square}),
      {1, 1, 3, 3}, {0, 0.5, 1, 1, 1.5, 2, 2, 2.5, 3});
  CHECK(define("Resize", {{"mode", "linear"}, {"scales", Floats{1, 1, 2, 2}}}, {square})
            .list.stages[StageId(0)]
            .axes.size() == 6);
}

TEST_CASE("Resize with antialiasing lets every input element count where it shrinks", "[Resize]") {
  Attributes attributes = {{"mode", "linear"}, {"scales", Floats{0.5}}, {"antialias", std::int64_t{1}}};
  // Weights 1 3 3 1 of eight around positions 0.5, 2.5 and 4.5; outside lies the edge.
  check_near(resized({0, 8, 16, 24, 32, 40}, attributes),
             {(0 + 0 + 24 + 16) / 8.0, (8 + 48 + 72 + 32) / 8.0, (24 + 96 + 120 + 40) / 8.0});
  attributes["exclude_outside"] = std::int64_t{1};
  check_near(resized({0, 8, 16, 24, 32, 40}, attributes),
             {(0 + 24 + 16) / 7.0, (8 + 48 + 72 + 32) / 8.0, (24 + 96 + 120) / 7.0});
  // Where it grows there is nothing to widen.
  attributes = {{"mode", "linear"}, {"scales", Floats{2}}, {"antialias", std::int64_t{1}}};
  check_near(resized({0, 4}, attributes), {0, 1, 3, 4});
}

TEST_CASE("Resize of some dimensions leaves the others without a table", "[Resize]") {
  const Tensor x = counting({2, 4});
  check_floats(run("Resize", {{"sizes", Ints{2, 2}}, {"nearest_mode", "floor"}}, {x}), {2, 2}, {0, 2, 4, 6});
  CHECK(run("Resize", {{"scales", Floats{1, 1}}}, {x}).shape() == Shape{2, 4});
  CHECK(fusion_kind(define("Resize", {{"scales", Floats{1, 1}}}, {x}).list) == FusionKind::element_wise);
}

TEST_CASE("Resize refuses what it does not do", "[Resize]") {
  const Tensor x = counting({4});
  CHECK(refusal("Resize", {{"mode", "cubic"}, {"scales", Floats{2}}}, {x}) ==
        "[unsupported-attribute] Resize with mode cubic");
  CHECK(refusal("Resize", {{"scales", Floats{2}}, {"coordinate_transformation_mode", "tf_crop_and_resize"}}, {x}) ==
        "[bad-attribute] coordinate_transformation_mode 'tf_crop_and_resize' of Resize");
  CHECK(refusal("Resize", {}, {x}) == "[missing-attribute] Resize needs scales or sizes");
  CHECK(refusal("Resize", {{"scales", Floats{-1}}}, {x}) == "[bad-attribute] a scale of -1");
  CHECK(refusal("Resize", {{"scales", Floats{1e-300}}, {"sizes", Ints{2}}}, {x}) ==
        "[bad-attribute] a scale of 1e-300");
  CHECK(refusal("Resize", {{"scales", Floats{1e9}}}, {x}) == "[tensor-too-large] Resize to an extent of 4000000000");
}
