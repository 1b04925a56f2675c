// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "run_operator.h"

using namespace stowage;
using namespace stowage::test;

namespace {

constexpr auto i8 = ElementType::i8;
constexpr auto i32 = ElementType::i32;
constexpr auto u8 = ElementType::u8;
constexpr auto u64 = ElementType::u64;
constexpr auto boolean = ElementType::boolean;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// One operand of shape [n].
void check_map(const std::string& kind, const std::vector<float>& x, const std::vector<double>& wanted,
               const Attributes& attributes = {}) {
  const Shape shape = {static_cast<std::int64_t>(x.size())};
  check_floats(run(kind, attributes, {floats(shape, x)}), shape, wanted);
}

}  // namespace

TEST_CASE("Abs, Neg: of floats and integers", "[Abs][Neg]") {
  check_map("Abs", {-1.5f, 0, 2}, {1.5, 0, 2});
  check_map("Neg", {-1.5f, 0, 2}, {1.5, 0, -2});
  check_integers(run("Abs", {}, {integers(i32, {2}, {-7, 7})}), i32, {2}, {7, 7});
  check_integers(run("Neg", {}, {integers(i8, {2}, {-128, 5})}), i8, {2}, {-128, -5});
}

TEST_CASE("Ceil, Floor", "[Ceil][Floor]") {
  check_map("Ceil", {-1.5f, 1.2f, 3}, {-1, 2, 3});
  check_map("Floor", {-1.5f, 1.2f, 3}, {-2, 1, 3});
  CHECK(refusal("Ceil", {}, {integers(i32, {1}, {1})}) ==
        "[unsupported-element-type] Ceil computes in f32 or f64, operand X is i32");
}

TEST_CASE("Exp, Log, Sqrt, Erf, Tanh", "[Exp][Log][Sqrt][Erf][Tanh]") {
  check_map("Exp", {0, 1, -2}, {1, std::exp(1.0), std::exp(-2.0)});
  check_map("Log", {1, 2, 0}, {0, std::log(2.0), -infinity});
  check_map("Sqrt", {0, 2.25f, 4}, {0, 1.5, 2});
  check_map("Erf", {0, 1, -2}, {0, 0.842700793, -0.995322265});
  check_map("Tanh", {0, 1, -2}, {0, 0.761594156, -0.964027580});
}

TEST_CASE("Relu, of integers too", "[Relu]") {
  check_map("Relu", {-1, 0, 2.5f}, {0, 0, 2.5});
  check_integers(run("Relu", {}, {integers(i8, {3}, {-128, -1, 127})}), i8, {3}, {0, 0, 127});
  CHECK(refusal("Relu", {}, {booleans({1}, {1})}) ==
        "[unsupported-element-type] Relu computes with numbers, operand X is bool");
}

TEST_CASE("LeakyRelu scales what is negative", "[LeakyRelu]") {
  check_map("LeakyRelu", {-2, 0, 2}, {-0.02, 0, 2});
  check_map("LeakyRelu", {-2, 0, 2}, {-0.5, 0, 2}, {{"alpha", 0.25}});
}

TEST_CASE("PRelu broadcasts its slope, but not its input", "[PRelu]") {
  const Tensor x = floats({2, 2}, {-1, -2, 3, -4});
  check_floats(run("PRelu", {}, {x, floats({2}, {0.5f, 10})}), {2, 2}, {-0.5, -20, 3, -40});
  check_floats(run("PRelu", {}, {x, floats({2, 1}, {0.5f, 10})}), {2, 2}, {-0.5, -1, 3, -40});
  CHECK(refusal("PRelu", {}, {x, counting({3, 1, 1})}) ==
        "[shape-mismatch] slope of shape [3,1,1] does not broadcast to [2,2]");
}

TEST_CASE("Clip takes bounds as operands or attributes", "[Clip]") {
  check_map("Clip", {-3, 0, 3}, {-3, 0, 3});
  check_map("Clip", {-3, 0, 3}, {-1, 0, 2}, {{"min", -1.0}, {"max", 2.0}});
  const Tensor x = floats({3}, {-3, 0, 3});
  check_floats(run("Clip", {}, {x, floats({}, {-1})}), {3}, {-1, 0, 3});
  check_floats(run("Clip", {}, {x, std::nullopt, floats({}, {2})}), {3}, {-3, 0, 2});
  check_floats(run("Clip", {}, {x, floats({1}, {2}), floats({1}, {1})}), {3}, {1, 1, 1});
  check_integers(run("Clip", {}, {integers(i8, {2}, {-100, 100}), integers(i8, {}, {-5}), integers(i8, {}, {5})}), i8,
                 {2}, {-5, 5});
  CHECK(refusal("Clip", {}, {x, counting({2})}) == "[shape-mismatch] operand min of shape [2] is not a scalar");
}

TEST_CASE("Sigmoid, HardSigmoid, HardSwish", "[Sigmoid][HardSigmoid][HardSwish]") {
  check_map("Sigmoid", {0, 2, -1000, 1000}, {0.5, 1 / (1 + std::exp(-2.0)), 0, 1});
  check_map("HardSigmoid", {-3, 0, 1, 3}, {0, 0.5, 0.7, 1});
  check_map("HardSigmoid", {-1, 0, 1}, {0, 0.25, 0.75}, {{"alpha", 0.5}, {"beta", 0.25}});
  check_map("HardSwish", {-4, -1, 0, 3, 5}, {0, -1.0 / 3, 0, 3, 5});
}

TEST_CASE("Add, Sub, Mul, Div broadcast in both directions", "[Add][Sub][Mul][Div]") {
  const Tensor column = floats({2, 1}, {1, 2});
  const Tensor row = floats({3}, {10, 20, 40});
  check_floats(run("Add", {}, {column, row}), {2, 3}, {11, 21, 41, 12, 22, 42});
  check_floats(run("Sub", {}, {column, row}), {2, 3}, {-9, -19, -39, -8, -18, -38});
  check_floats(run("Mul", {}, {column, row}), {2, 3}, {10, 20, 40, 20, 40, 80});
  check_floats(run("Div", {}, {row, column}), {2, 3}, {10, 20, 40, 5, 10, 20});
  check_floats(run("Add", {}, {floats({}, {1}), floats({}, {2})}), {}, {3});
  CHECK(fusion_kind(define("Add", {}, {column, column}).list) == FusionKind::element_wise);
  CHECK(fusion_kind(define("Add", {}, {column, row}).list) == FusionKind::broadcast);
  CHECK(refusal("Add", {}, {counting({2}), counting({3})}) == "[shape-mismatch] shapes [2] and [3] do not broadcast");
  CHECK(refusal("Add", {}, {counting({2}), integers(i32, {2}, {1, 2})}) ==
        "[type-mismatch] operand A is f32, operand B is i32");
}

TEST_CASE("integer arithmetic wraps, and division truncates towards zero", "[Add][Div][Mul]") {
  check_integers(run("Add", {}, {integers(u8, {2}, {250, 1}), integers(u8, {1}, {10})}), u8, {2}, {4, 11});
  check_integers(run("Div", {}, {integers(i32, {4}, {7, -7, 7, -7}), integers(i32, {4}, {2, 2, -2, 0})}), i32, {4},
                 {3, -3, -3, 0});
  check_integers(run("Div", {}, {integers(i64, {1}, {INT64_MIN}), integers(i64, {1}, {-1})}), i64, {1},
                 {-9223372036854775808.0});
  const Tensor all_ones = integers(u64, {1}, {-1});
  check_integers(run("Div", {}, {all_ones, integers(u64, {1}, {2})}), u64, {1}, {9223372036854775807.0});
}

TEST_CASE("Sum, Max, Min of any number of operands", "[Sum][Max][Min]") {
  const Tensor a = floats({2}, {1, 5});
  const Tensor b = floats({1}, {3});
  const Tensor c = floats({2, 1}, {2, 4});
  check_floats(run("Sum", {}, {a, b, c}), {2, 2}, {6, 10, 8, 12});
  check_floats(run("Max", {}, {a, b, c}), {2, 2}, {3, 5, 4, 5});
  check_floats(run("Min", {}, {a, b, c}), {2, 2}, {1, 2, 1, 3});
  check_floats(run("Sum", {}, {a}), {2}, {1, 5});
  const Tensor large = integers(u64, {2}, {-1, 1});
  check_integers(run("Max", {}, {large, integers(u64, {1}, {2})}), u64, {2}, {18446744073709551615.0, 2});
}

TEST_CASE("Pow keeps the type of its base", "[Pow]") {
  check_floats(run("Pow", {}, {floats({3}, {1, 2, 9}), floats({3}, {5, 3, 0.5f})}), {3}, {1, 8, 3});
  check_floats(run("Pow", {}, {floats({2}, {2, 3}), integers(i64, {}, {2})}), {2}, {4, 9});
  check_integers(run("Pow", {}, {integers(i32, {4}, {2, -3, 7, 2}), integers(i32, {4}, {10, 3, 0, -1})}), i32, {4},
                 {1024, -27, 1, 0});
  check_integers(run("Pow", {}, {integers(i64, {2}, {9, 2}), floats({}, {0.5f})}), i64, {2}, {3, 1});
}

TEST_CASE("comparisons yield booleans", "[Equal][Less][LessOrEqual][Greater][GreaterOrEqual]") {
  const Tensor a = floats({3}, {1, 2, 3});
  const Tensor b = floats({1}, {2});
  check_integers(run("Equal", {}, {a, b}), boolean, {3}, {0, 1, 0});
  check_integers(run("Less", {}, {a, b}), boolean, {3}, {1, 0, 0});
  check_integers(run("LessOrEqual", {}, {a, b}), boolean, {3}, {1, 1, 0});
  check_integers(run("Greater", {}, {a, b}), boolean, {3}, {0, 0, 1});
  check_integers(run("GreaterOrEqual", {}, {a, b}), boolean, {3}, {0, 1, 1});
  check_integers(run("Less", {}, {integers(u64, {1}, {-1}), integers(u64, {1}, {1})}), boolean, {1}, {0});
  check_integers(run("Equal", {}, {booleans({2}, {0, 1}), booleans({2}, {1, 1})}), boolean, {2}, {0, 1});
}

TEST_CASE("And, Or, Not are for booleans", "[And][Or][Not]") {
  const Tensor a = booleans({4}, {0, 0, 1, 1});
  const Tensor b = booleans({4}, {0, 1, 0, 1});
  check_integers(run("And", {}, {a, b}), boolean, {4}, {0, 0, 0, 1});
  check_integers(run("Or", {}, {a, b}), boolean, {4}, {0, 1, 1, 1});
  check_integers(run("Not", {}, {a}), boolean, {4}, {1, 1, 0, 0});
  CHECK(refusal("Not", {}, {counting({1})}) == "[unsupported-element-type] Not of numbers");
  CHECK(refusal("And", {}, {a, counting({4})}) == "[unsupported-element-type] a logical operator of numbers");
}

TEST_CASE("Where picks by a condition", "[Where]") {
  const Tensor condition = booleans({2, 1}, {1, 0});
  check_floats(run("Where", {}, {condition, floats({2}, {1, 2}), floats({1}, {9})}), {2, 2}, {1, 2, 9, 9});
  CHECK(refusal("Where", {}, {counting({1}), counting({1}), counting({1})}) ==
        "[type-mismatch] the condition is f32, bool was wanted");
}

TEST_CASE("Cast converts as C does", "[Cast]") {
  const Tensor x = floats({4}, {-1.9f, 0, 2.9f, 300});
  check_integers(run("Cast", {{"to", "i32"}}, {x}), i32, {4}, {-1, 0, 2, 300});
  check_integers(run("Cast", {{"to", "bool"}}, {x}), boolean, {4}, {1, 0, 1, 1});
  check_integers(run("Cast", {{"to", "u8"}}, {integers(i32, {2}, {-1, 256})}), u8, {2}, {255, 0});
  check_floats(run("Cast", {{"to", "f32"}}, {booleans({2}, {0, 1})}), {2}, {0, 1});
  check_integers(run("Cast", {{"to", "f32"}}, {integers(i64, {1}, {16777217})}), ElementType::f32, {1}, {16777216});
  CHECK(refusal("Cast", {{"to", "f16"}}, {x}) == "[unsupported-element-type] Cast to f16 elements");
  CHECK(refusal("Cast", {{"to", "float"}}, {x}) == "[bad-attribute] there is no element type 'float'");
}
