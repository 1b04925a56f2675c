// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "run_operator.h"

using namespace stowage;
using namespace stowage::test;

TEST_CASE("MatMul of matrices, in the names of the papers", "[MatMul]") {
  const Tensor a = counting({2, 3});
  const Tensor b = counting({3, 2});
  check_floats(run("MatMul", {}, {a, b}), {2, 2}, {10, 13, 28, 40});
  CHECK(to_text(define("MatMul", {}, {a, b}).list) ==
        "input A f32[2,3]\ninput B f32[3,2]\noutput C f32[2,2]\n"
        "matmul: C[x<2, y<2] = sum_{k<3} (A[x, k] * B[k, y])\n");
}

TEST_CASE("MatMul broadcasts batches and takes vectors", "[MatMul]") {
  const Tensor a = counting({2, 1, 1, 2});  // 0 1 | 2 3
  const Tensor b = counting({3, 2, 1});     // 0 1 | 2 3 | 4 5
  check_floats(run("MatMul", {}, {a, b}), {2, 3, 1, 1}, {1, 3, 5, 3, 13, 23});
  check_floats(run("MatMul", {}, {counting({2}), b}), {3, 1}, {1, 3, 5});
  check_floats(run("MatMul", {}, {counting({2, 3}), counting({3})}), {2}, {5, 14});
  check_floats(run("MatMul", {}, {counting({3}), counting({3})}), {}, {5});
  CHECK(refusal("MatMul", {}, {counting({2, 3}), counting({2, 3})}) ==
        "[shape-mismatch] shapes [2,3] and [2,3] have no common depth");
}

TEST_CASE("MatMul of integers wraps", "[MatMul]") {
  const Tensor a = integers(ElementType::i32, {1, 2}, {2147483647, 1});
  const Tensor b = integers(ElementType::i32, {2, 1}, {1, 1});
  check_integers(run("MatMul", {}, {a, b}), ElementType::i32, {1, 1}, {-2147483648.0});
}

TEST_CASE("Gemm scales, adds C and transposes", "[Gemm]") {
  const Tensor a = counting({2, 3});
  const Tensor b = counting({3, 2});
  const Attributes scaled = {{"alpha", 0.5}, {"beta", 2.0}};
  check_floats(run("Gemm", {}, {a, b}), {2, 2}, {10, 13, 28, 40});
  check_floats(run("Gemm", scaled, {a, b, floats({2}, {1, 2})}), {2, 2}, {7, 10.5, 16, 24});
  check_floats(run("Gemm", {}, {a, b, floats({2, 1}, {1, 2})}), {2, 2}, {11, 14, 30, 42});
  check_floats(run("Gemm", {}, {a, b, floats({}, {1})}), {2, 2}, {11, 14, 29, 41});
  const Attributes transposed = {{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}};
  check_floats(run("Gemm", transposed, {counting({3, 2}), counting({2, 3})}), {2, 2}, {10, 28, 13, 40});
}

TEST_CASE("Gemm needs a second stage only for alpha, beta and C", "[Gemm]") {
  const Tensor a = counting({2, 3});
  const Tensor b = counting({3, 2});
  CHECK(define("Gemm", {}, {a, b}).list.stages.size() == 1);
  CHECK(define("Gemm", {{"beta", 0.0}}, {a, b, counting({2})}).list.stages.size() == 1);
  CHECK(define("Gemm", {}, {a, b, counting({2})}).list.stages.size() == 2);
  CHECK(refusal("Gemm", {}, {a, b, counting({3})}) == "[shape-mismatch] shapes [2,2] and [3] do not broadcast");
  CHECK(refusal("Gemm", {}, {a, b, counting({2, 2, 2})}) ==
        "[shape-mismatch] operand C of shape [2,2,2] does not broadcast to [2,2]");
}
