// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "run_operator.h"

using namespace stowage;
using namespace stowage::test;

TEST_CASE("ReduceSum, ReduceMean, ReduceMax over any axes", "[ReduceSum][ReduceMean][ReduceMax]") {
  const Tensor x = counting({2, 3, 2});
  const Attributes dropped = {{"axes", Ints{-2}}, {"keepdims", std::int64_t{0}}};
  check_floats(run("ReduceSum", dropped, {x}), {2, 2}, {6, 9, 24, 27});
  check_floats(run("ReduceMean", dropped, {x}), {2, 2}, {2, 3, 8, 9});
  check_floats(run("ReduceMax", dropped, {x}), {2, 2}, {4, 5, 10, 11});
  check_floats(run("ReduceSum", {{"axes", Ints{0, 2}}}, {x}), {1, 3, 1}, {14, 22, 30});
  check_floats(run("ReduceMean", {}, {x}), {1, 1, 1}, {5.5});
  check_floats(run("ReduceMax", {{"keepdims", std::int64_t{0}}}, {x}), {}, {11});
  check_floats(run("ReduceSum", {{"axes", Ints{}}}, {x}), {2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST_CASE("reductions of integers, of nothing, and of NaN", "[ReduceSum][ReduceMax]") {
  const Tensor large = integers(ElementType::i64, {2}, {INT64_MIN, INT64_MIN + 1});
  check_integers(run("ReduceMax", {}, {large}), ElementType::i64, {1}, {-9223372036854775807.0});
  check_integers(run("ReduceSum", {}, {integers(ElementType::u8, {3}, {200, 50, 10})}), ElementType::u8, {1}, {4});
  check_floats(run("ReduceSum", {{"axes", Ints{0}}}, {counting({0, 2})}), {1, 2}, {0, 0});
  CHECK(refusal("ReduceMax", {{"axes", Ints{0}}}, {counting({0, 2})}) ==
        "[shape-mismatch] the largest element of nothing: shape [0,2]");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(run("ReduceMax", {}, {floats({3}, {1, nan, 2})}).as_double(0)));
}

TEST_CASE("a sum in f32 is rounded once", "[ReduceSum]") {
  // In float each 1 would be lost against 2^24.
  check_floats(run("ReduceSum", {}, {floats({5}, {16777216, 1, 1, 1, 1})}), {1}, {16777220});
}
