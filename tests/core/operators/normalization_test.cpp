// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>

#include "run_operator.h"

using namespace stowage;
using namespace stowage::test;

TEST_CASE("BatchNormalization normalises per channel", "[BatchNormalization]") {
  const Tensor x = floats({1, 2, 2}, {1, 3, 10, 20});
  const Operands operands = {x, floats({2}, {2, 1}), floats({2}, {0.5f, 0}), floats({2}, {1, 10}),
                             floats({2}, {3, 24})};
  check_floats(run("BatchNormalization", {{"epsilon", 1.0}}, operands), {1, 2, 2}, {0.5, 2.5, 0, 2});
  CHECK(refusal("BatchNormalization", {}, {x, counting({2}), counting({3}), counting({2}), counting({2})}) ==
        "[shape-mismatch] a parameter has shape [3], the input has 2 channels");
  CHECK(refusal("BatchNormalization", {}, {x, counting({2}), counting({2})}) ==
        "[missing-operand] BatchNormalization needs operand mean\n[missing-operand] BatchNormalization needs operand "
        "var");
}

TEST_CASE("Softmax over one axis, or several at once", "[Softmax]") {
  const double e = std::exp(1.0);
  const Tensor x = floats({2, 2}, {0, 1, 1001, 1000});
  check_floats(run("Softmax", {}, {x}), {2, 2}, {1 / (1 + e), e / (1 + e), e / (1 + e), 1 / (1 + e)});
  check_floats(run("Softmax", {{"axis", std::int64_t{0}}}, {floats({2, 1}, {0, 1})}), {2, 1},
               {1 / (1 + e), e / (1 + e)});
  const double sum = 1 + e + e * e + e * e * e;
  check_floats(run("Softmax", {{"axes", Ints{1, 2}}}, {counting({1, 2, 2})}), {1, 2, 2},
               {1 / sum, e / sum, e * e / sum, e * e * e / sum});
}

TEST_CASE("Softmax needs no intermediate of the input's size", "[Softmax]") {
  CHECK(to_text(define("Softmax", {}, {counting({4, 8})}).list) ==
        "input X f32[4,8]\nintermediate M f32[4]\nintermediate S f32[4]\noutput Y f32[4,8]\n"
        "max: M[i0<4] = max_{r0<8} X[i0, r0]\n"
        "sum: S[i0<4] = sum_{r0<8} exp((X[i0, r0] - M[i0]))\n"
        "normalize: Y[i0<4, i1<8] = (exp((X[i0, i1] - M[i0])) / S[i0])\n");
}

TEST_CASE("LayerNormalization over the last axes", "[LayerNormalization]") {
  const Tensor x = floats({2, 2}, {1, 3, 10, 30});
  const Tensor scale = floats({2}, {2, 1});
  // Variances 1 and 100; with epsilon 0 the normalised values are -1 and 1.
  const Attributes exact = {{"epsilon", 0.0}};
  check_floats(run("LayerNormalization", exact, {x, scale}), {2, 2}, {-2, 1, -2, 1});
  check_floats(run("LayerNormalization", exact, {x, scale, floats({2}, {10, 20})}), {2, 2}, {8, 21, 8, 21});
  check_floats(
      run("LayerNormalization", {{"epsilon", 3.0}, {"axis", std::int64_t{1}}}, {floats({1, 2}, {1, 3}), scale}), {1, 2},
      {-1, 0.5});
  check_floats(run("LayerNormalization", {{"axis", std::int64_t{0}}, {"epsilon", 0.0}},
                   {floats({1, 2, 1}, {-5, 5}), counting({1})}),
               {1, 2, 1}, {0, 0});
  CHECK(refusal("LayerNormalization", {}, {x, counting({3})}) ==
        "[shape-mismatch] shapes [2,2] and [3] do not broadcast");
}

TEST_CASE("LayerNormalization's mean and inverse deviation keep the axes normalised over", "[LayerNormalization]") {
  const Tensor x = floats({2, 2}, {1, 3, 10, 30});
  const auto outputs = run_outputs("LayerNormalization", {{"epsilon", 0.0}}, {x, floats({2}, {2, 1})}, 3);
  check_floats(outputs[0], {2, 2}, {-2, 1, -2, 1});
  check_floats(outputs[1], {2, 1}, {2, 20});
  check_floats(outputs[2], {2, 1}, {1, 0.1});
  const auto mean_only = run_outputs("LayerNormalization", {{"axis", std::int64_t{0}}}, {x, counting({2})}, 2);
  check_floats(mean_only[1], {1, 1}, {11});
}

TEST_CASE("InvStdDev is LayerNormalization's third output", "[InvStdDev]") {
  check_floats(run("InvStdDev", {{"epsilon", 0.0}}, {floats({2, 2}, {1, 3, 10, 30})}), {2, 1}, {1, 0.1});
  check_floats(run("InvStdDev", {{"axis", std::int64_t{0}}, {"epsilon", 3.0}}, {floats({2, 1}, {1, 3})}), {1, 1},
               {0.5});
}

TEST_CASE("LRN sums the squares of neighbouring channels", "[LRN]") {
  const Tensor x = floats({1, 3, 1}, {1, 2, 3});
  const Attributes odd = {{"size", std::int64_t{3}}, {"alpha", 3.0}, {"beta", 1.0}, {"bias", 0.0}};
  check_floats(run("LRN", odd, {x}), {1, 3, 1}, {1.0 / 5, 2.0 / 14, 3.0 / 13});
  // An even window reaches one channel further up than down.
  const Attributes even = {{"size", std::int64_t{2}}, {"alpha", 2.0}, {"beta", 1.0}, {"bias", 0.0}};
  check_floats(run("LRN", even, {x}), {1, 3, 1}, {1.0 / 5, 2.0 / 13, 3.0 / 9});
  check_floats(run("LRN", {{"size", std::int64_t{1}}}, {floats({1, 1}, {2})}), {1, 1},
               {2 / std::pow(1 + 1e-4 * 4, 0.75)});
}
