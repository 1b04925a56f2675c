// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "run_operator.h"

using namespace stowage;
using namespace stowage::test;

namespace {
const Ints two = {2};
const Ints three = {3};
}  // namespace

TEST_CASE("MaxPool's indices count the elements of its operand", "[MaxPool]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto indices = [](Shape shape, std::vector<float> x, Attributes attributes) {
    return run_outputs("MaxPool", attributes, {floats(std::move(shape), std::move(x))}, 2);
  };
  const Attributes windows = {{"kernel_shape", Ints{2, 2}}};
  const auto two_images = indices({1, 2, 2, 3}, {1, 5, 2, 3, 4, 6, 9, 0, 0, 0, 0, 8}, windows);
  check_floats(two_images[0], {1, 2, 1, 2}, {5, 6, 9, 8});
  check_integers(two_images[1], ElementType::i64, {1, 2, 1, 2}, {1, 5, 6, 11});
  // The first of equals, and column by column.
  check_integers(indices({1, 1, 2, 2}, {7, 7, 7, 7}, windows)[1], ElementType::i64, {1, 1, 1, 1}, {0});
  Attributes columns = windows;
  columns["storage_order"] = std::int64_t{1};
  check_integers(indices({1, 1, 2, 3}, {0, 0, 0, 0, 1, 0}, columns)[1], ElementType::i64, {1, 1, 1, 2}, {3, 3});
  // What lies outside is never meant, also where nothing is larger; a NaN is the largest.
  Attributes padded = windows;
  padded["pads"] = Ints{1, 1, 0, 0};
  constexpr float low = -std::numeric_limits<float>::infinity();
  check_integers(indices({1, 1, 1, 2}, {low, low}, padded)[1], ElementType::i64, {1, 1, 1, 2}, {0, 0});
  check_integers(indices({1, 1, 2, 2}, {1, 2, static_cast<float>(nan), 3}, windows)[1], ElementType::i64, {1, 1, 1, 1},
                 {2});
}

TEST_CASE("MaxPool takes the largest of each window, padding never", "[MaxPool]") {
  const Tensor x = floats({1, 1, 4}, {-1, -2, -3, -4});
  check_floats(run("MaxPool", {{"kernel_shape", two}, {"strides", two}}, {x}), {1, 1, 2}, {-1, -3});
  check_floats(run("MaxPool", {{"kernel_shape", two}, {"strides", two}, {"pads", Ints{1, 1}}}, {x}), {1, 1, 3},
               {-1, -2, -4});
  check_floats(run("MaxPool", {{"kernel_shape", two}, {"dilations", two}}, {x}), {1, 1, 2}, {-1, -2});
}

TEST_CASE("MaxPool rounds up with ceil_mode, but drops a window that covers nothing", "[MaxPool]") {
  const Tensor x = counting({1, 1, 5});
  check_floats(run("MaxPool", {{"kernel_shape", two}, {"strides", two}}, {x}), {1, 1, 2}, {1, 3});
  check_floats(run("MaxPool", {{"kernel_shape", two}, {"strides", two}, {"ceil_mode", std::int64_t{1}}}, {x}),
               {1, 1, 3}, {1, 3, 4});
  const Tensor four = counting({1, 1, 4});
  check_floats(
      run("MaxPool",
          {{"kernel_shape", Ints{1}}, {"strides", three}, {"pads", Ints{0, 1}}, {"ceil_mode", std::int64_t{1}}},
          {four}),
      {1, 1, 2}, {0, 3});
}

TEST_CASE("MaxPool of integers starts from their lowest value", "[MaxPool]") {
  const Tensor x = integers(ElementType::i8, {1, 1, 3}, {-128, -127, -126});
  check_integers(run("MaxPool", {{"kernel_shape", two}, {"pads", Ints{1, 0}}}, {x}), ElementType::i8, {1, 1, 3},
                 {-128, -127, -126});
}

TEST_CASE("MaxPool of two dimensions with auto_pad", "[MaxPool]") {
  const Tensor x = counting({1, 1, 3, 3});
  check_floats(run("MaxPool", {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}, {"auto_pad", "SAME_UPPER"}}, {x}),
               {1, 1, 2, 2}, {4, 5, 7, 8});
  check_floats(run("MaxPool", {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}, {"auto_pad", "SAME_LOWER"}}, {x}),
               {1, 1, 2, 2}, {0, 2, 6, 8});
}

TEST_CASE("AveragePool counts padding only where it is told to", "[AveragePool]") {
  const Tensor x = floats({1, 1, 3}, {3, 6, 9});
  Attributes attributes = {{"kernel_shape", three}, {"pads", Ints{1, 1}}};
  check_floats(run("AveragePool", attributes, {x}), {1, 1, 3}, {4.5, 6, 7.5});
  attributes["count_include_pad"] = std::int64_t{1};
  check_floats(run("AveragePool", attributes, {x}), {1, 1, 3}, {3, 6, 5});
}

TEST_CASE("AveragePool with ceil_mode divides by what lies inside input and padding", "[AveragePool]") {
  const Tensor x = floats({1, 1, 5}, {2, 4, 6, 8, 10});
  Attributes attributes = {
      {"kernel_shape", three}, {"strides", two}, {"ceil_mode", std::int64_t{1}}, {"pads", Ints{0, 0}}};
  check_floats(run("AveragePool", attributes, {x}), {1, 1, 2}, {4, 8});
  attributes["strides"] = three;
  check_floats(run("AveragePool", attributes, {x}), {1, 1, 2}, {4, 9});
  attributes["strides"] = two;
  attributes["pads"] = Ints{1, 0};
  attributes["count_include_pad"] = std::int64_t{1};
  check_floats(run("AveragePool", attributes, {x}), {1, 1, 3}, {2, 6, 9});
}

TEST_CASE("AveragePool with dilations counts the taps inside", "[AveragePool]") {
  const Tensor x = floats({1, 1, 4}, {1, 2, 3, 4});
  check_floats(run("AveragePool", {{"kernel_shape", two}, {"dilations", two}, {"pads", Ints{1, 1}}}, {x}), {1, 1, 4},
               {2, 2, 3, 3});
}

TEST_CASE("AveragePool of two dimensions with a varying count", "[AveragePool]") {
  const Tensor x = counting({1, 1, 2, 2});
  check_floats(run("AveragePool", {{"kernel_shape", Ints{2, 2}}, {"pads", Ints{1, 1, 0, 0}}}, {x}), {1, 1, 2, 2},
               {0, 0.5, 1, 1.5});
}

TEST_CASE("Global pools reduce each image", "[GlobalAveragePool][GlobalMaxPool]") {
  const Tensor x = counting({1, 2, 2, 3});
  check_floats(run("GlobalAveragePool", {}, {x}), {1, 2, 1, 1}, {2.5, 8.5});
  check_floats(run("GlobalMaxPool", {}, {x}), {1, 2, 1, 1}, {5, 11});
  CHECK(refusal("GlobalMaxPool", {}, {counting({1, 2, 0})}) == "[shape-mismatch] a pool over nothing: shape [1,2,0]");
}
