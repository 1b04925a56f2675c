// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <numeric>

#include "run_operator.h"

using namespace stowage;
using namespace stowage::test;

namespace {

std::vector<double> first_numbers(std::size_t count) {
  std::vector<double> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  return numbers;
}

std::string stage_text(const OperatorDefinition& definition) {
  const std::string text = to_text(definition.list);
  return text.substr(text.rfind("copy:"));
}

}  // namespace

TEST_CASE("Reshape keeps the linear order, whatever the dimensions", "[Reshape]") {
  const Shape shapes[] = {{24}, {2, 3, 4}, {4, 6}, {3, 2, 1, 4}, {8, 3}, {1, 24, 1}, {6, 1, 4}, {2, 12}};
  for (const Shape& from : shapes) {
    for (const Shape& to : shapes) {
      INFO(to_text(from) << " to " << to_text(to));
      check_floats(run("Reshape", {{"shape", to}}, {counting(from)}), to, first_numbers(24));
      CHECK(define("Reshape", {{"shape", to}}, {counting(from)}).is_view);
    }
  }
  check_floats(run("Reshape", {{"shape", Ints{0, 5}}}, {counting({3, 0})}), {0, 5}, {});
  check_floats(run("Reshape", {{"shape", Ints{}}}, {counting({1, 1})}), {}, {0});
  CHECK(refusal("Reshape", {{"shape", Ints{5}}}, {counting({2, 3})}) ==
        "[shape-mismatch] shape [2,3] cannot become [5]");
  CHECK(refusal("Reshape", {{"shape", Ints{-1}}}, {counting({2, 3})}) ==
        "[shape-mismatch] shape [2,3] cannot become [-1]");
  CHECK(refusal("Reshape", {}, {counting({2, 3})}) == "[missing-attribute] Reshape needs attribute shape");
}

TEST_CASE("Reshape reads dimensions that stay by one variable", "[Reshape]") {
  CHECK(stage_text(define("Reshape", {{"shape", Ints{5, 3, 2, 7}}}, {counting({5, 6, 7})})) ==
        "copy: Y[i0<5, i1<3, i2<2, i3<7] = X[i0, 2*i1 + i2, i3]\n");
  CHECK(stage_text(define("Reshape", {{"shape", Ints{5, 42}}}, {counting({5, 6, 7})})) ==
        "copy: Y[i0<5, i1<42] = X[i0, (i1 / 7), (i1 % 7)]\n");
}

TEST_CASE("Flatten makes a matrix", "[Flatten]") {
  const Tensor x = counting({2, 3, 4});
  check_floats(run("Flatten", {}, {x}), {2, 12}, first_numbers(24));
  check_floats(run("Flatten", {{"axis", std::int64_t{0}}}, {x}), {1, 24}, first_numbers(24));
  check_floats(run("Flatten", {{"axis", std::int64_t{3}}}, {x}), {24, 1}, first_numbers(24));
  check_floats(run("Flatten", {{"axis", std::int64_t{-1}}}, {x}), {6, 4}, first_numbers(24));
  CHECK(refusal("Flatten", {{"axis", std::int64_t{4}}}, {x}) == "[bad-attribute] axis 4 of a tensor with 3 dimensions");
}

TEST_CASE("Squeeze, Unsqueeze, Identity are views", "[Squeeze][Unsqueeze][Identity]") {
  const Tensor x = counting({1, 2, 1, 3});
  check_floats(run("Squeeze", {}, {x}), {2, 3}, first_numbers(6));
  check_floats(run("Squeeze", {{"axes", Ints{-2}}}, {x}), {1, 2, 3}, first_numbers(6));
  check_floats(run("Unsqueeze", {{"axes", Ints{0, -1}}}, {counting({2, 3})}), {1, 2, 3, 1}, first_numbers(6));
  check_floats(run("Identity", {}, {x}), {1, 2, 1, 3}, first_numbers(6));
  CHECK(define("Identity", {}, {x}).is_view);
  CHECK(refusal("Squeeze", {{"axes", Ints{1}}}, {x}) == "[shape-mismatch] dimension 1 of [1,2,1,3] is not 1");
  CHECK(refusal("Unsqueeze", {{"axes", Ints{1, 1}}}, {x}) == "[bad-attribute] attribute axes names an axis twice");
}

TEST_CASE("Transpose orders dimensions anew", "[Transpose]") {
  check_floats(run("Transpose", {}, {counting({2, 3})}), {3, 2}, {0, 3, 1, 4, 2, 5});
  check_floats(run("Transpose", {{"perm", Ints{1, 0, 2}}}, {counting({2, 2, 2})}), {2, 2, 2}, {0, 1, 4, 5, 2, 3, 6, 7});
  CHECK(refusal("Transpose", {{"perm", Ints{0, 0}}}, {counting({2, 3})}) ==
        "[bad-attribute] attribute perm [0,0] does not order 2 dimensions");
}

TEST_CASE("a Transpose that only moves dimensions of extent 1 is a view", "[Transpose]") {
  const auto is_view = [](const Shape& from, const Ints& perm) {
    return define("Transpose", {{"perm", perm}}, {counting(from)}).is_view;
  };
  CHECK(is_view({1, 32, 8}, {1, 0, 2}));
  CHECK(is_view({1, 32, 8}, {1, 2, 0}));
  CHECK(is_view({2, 1, 3, 1}, {1, 0, 3, 2}));
  CHECK(is_view({2, 3}, {0, 1}));
  CHECK(is_view({1, 1}, {1, 0}));
  CHECK_FALSE(is_view({1, 32, 8}, {0, 2, 1}));
  CHECK_FALSE(is_view({2, 1, 3}, {2, 1, 0}));
  CHECK_FALSE(is_view({2, 2}, {1, 0}));
  check_floats(run("Transpose", {{"perm", Ints{1, 2, 0}}}, {counting({1, 2, 3})}), {2, 3, 1}, first_numbers(6));
}

TEST_CASE("Expand broadcasts both ways", "[Expand]") {
  check_floats(run("Expand", {{"shape", Ints{2, 1, 2}}}, {counting({3, 1})}), {2, 3, 2},
               {0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2});
  CHECK(refusal("Expand", {{"shape", Ints{2}}}, {counting({3})}) ==
        "[shape-mismatch] shapes [3] and [2] do not broadcast");
}

TEST_CASE("Concat joins along an axis, empty operands too", "[Concat]") {
  const Tensor a = counting({2, 1});
  const Tensor b = counting({2, 2}, 10);
  check_floats(run("Concat", {{"axis", std::int64_t{1}}}, {a, b, a}), {2, 4}, {0, 0, 10, 0, 1, 20, 30, 1});
  check_floats(run("Concat", {{"axis", std::int64_t{-2}}}, {a, a}), {4, 1}, {0, 1, 0, 1});
  check_floats(run("Concat", {{"axis", std::int64_t{0}}}, {counting({0}), counting({2}), counting({0})}), {2}, {0, 1});
  check_floats(run("Concat", {{"axis", std::int64_t{0}}}, {counting({0}), counting({0})}), {0}, {});
  check_floats(run("Concat", {{"axis", std::int64_t{0}}}, {counting({2})}), {2}, {0, 1});
  CHECK(refusal("Concat", {{"axis", std::int64_t{0}}}, {a, b}) ==
        "[shape-mismatch] shapes [2,1] and [2,2] cannot be joined along axis 0");
  check_integers(run("Concat", {{"axis", std::int64_t{0}}}, {booleans({1}, {1}), booleans({1}, {0})}),
                 ElementType::boolean, {2}, {1, 0});
}

TEST_CASE("Slice clamps its range, and walks backwards", "[Slice]") {
  const Tensor x = counting({5});
  const auto cut = [&](std::int64_t start, std::int64_t end, std::int64_t step) {
    return values(run("Slice", {{"starts", Ints{start}}, {"ends", Ints{end}}, {"steps", Ints{step}}}, {x}));
  };
  using V = std::vector<double>;
  CHECK(cut(1, 4, 1) == V{1, 2, 3});
  CHECK(cut(-3, INT64_MAX, 1) == V{2, 3, 4});
  CHECK(cut(0, 5, 2) == V{0, 2, 4});
  CHECK(cut(4, 0, -1) == V{4, 3, 2, 1});
  CHECK(cut(-1, INT64_MIN, -2) == V{4, 2, 0});
  CHECK(cut(100, -100, -3) == V{4, 1});
  CHECK(cut(3, 3, 1).empty());
  CHECK(cut(4, 1, 1).empty());
  CHECK(cut(1, 5, INT64_MAX) == V{1});
  CHECK(cut(3, INT64_MIN, INT64_MIN) == V{3});
  check_floats(run("Slice", {{"starts", Ints{1}}, {"ends", Ints{2}}, {"axes", Ints{-1}}}, {counting({2, 3})}), {2, 1},
               {1, 4});
  CHECK(refusal("Slice", {{"starts", Ints{1}}, {"ends", Ints{2}}, {"steps", Ints{0}}}, {x}) ==
        "[bad-attribute] a step of 0");
  CHECK(refusal("Slice", {{"starts", Ints{1}}, {"ends", Ints{2, 3}}}, {x}) ==
        "[bad-attribute] 1 starts, 2 ends, 1 axes and 1 steps");
}
