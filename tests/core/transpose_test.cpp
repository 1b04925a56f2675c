// SPDX-License-Identifier: Apache-2.0
// Matrices transposed by tiles and on several cores, against one element after the other.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <numeric>
#include <random>
#include <vector>

#include "core/parallel.h"
#include "core/tensor.h"
#include "core/transpose.h"
#include "tests/random_runs.h"

namespace stowage {
namespace {

std::vector<std::byte> one_by_one(const std::vector<std::byte>& from, std::size_t width, std::size_t rows,
                                  std::size_t columns) {
  std::vector<std::byte> to(from.size());
  for (std::size_t i = 0; i < from.size() / width; ++i) {
    const std::size_t matrix = i / (rows * columns);
    const std::size_t row = i / columns % rows;
    const std::size_t column = i % columns;
    std::memcpy(to.data() + ((matrix * columns + column) * rows + row) * width, from.data() + i * width, width);
  }
  return to;
}

}  // namespace

TEST_CASE("matrices are transposed, small ones, many at once, and ones that several cores share") {
  std::mt19937_64 random(test::number_from("STOWAGE_SEED", 20261129));
  const auto check = [&](std::size_t width, std::size_t count, std::size_t rows, std::size_t columns) {
    INFO(width << " bytes, " << count << " x " << rows << " x " << columns);
    std::vector<std::byte> from(width * count * rows * columns);
    for (std::byte& b : from) b = static_cast<std::byte>(random() & 0xFFU);
    std::vector<std::byte> to(from.size());
    transpose_each(from, to, static_cast<int>(width), rows, columns);
    CHECK(to == one_by_one(from, width, rows, columns));
  };
  for (const std::size_t width : {1, 2, 4, 8}) {
    check(width, 1, 1, 1);
    check(width, 0, 3, 5);
    check(width, 3, 8, 31);
    check(width, 7, 33, 65);
    check(width, 2, 0, 4);
  }
  check(4, 300, 8, 577);    // ranges end within matrices
  check(4, 1, 1000, 1003);  // one matrix, shared
  check(1, 3, 700'000, 1);  // a row of the result is more than a range
}

TEST_CASE("ranges make up the whole, each item once") {
  for (const std::size_t count : {0, 1, 7, 1000}) {
    for (const std::size_t item_bytes : {0, 1, 4096, 1 << 21}) {
      std::vector<int> met(count, 0);
      std::mutex mutex;
      int empty = 0;
      parallel_ranges(count, item_bytes, [&](std::size_t first, std::size_t end) {
        const std::lock_guard lock(mutex);
        if (first >= end) ++empty;
        for (; first < end; ++first) ++met.at(first);
      });
      CHECK(empty == 0);
      CHECK(std::accumulate(met.begin(), met.end(), std::size_t{0}) == count);
      CHECK(std::count(met.begin(), met.end(), 1) == static_cast<std::ptrdiff_t>(count));
    }
  }
}

TEST_CASE("a tensor owns what it was filled with, and bytes that came as a string") {
  const Tensor filled = Tensor::filled(ElementType::f32, {2, 3}, [](std::span<std::byte> to) {
    REQUIRE(to.size() == 24);
    for (std::size_t i = 0; i < 6; ++i) {
      const float value = static_cast<float>(i) / 2;
      std::memcpy(to.data() + 4 * i, &value, sizeof value);
    }
  });
  const Tensor copy = filled;
  CHECK(copy.as_double(5) == 2.5);
  CHECK(copy.bytes().data() == filled.bytes().data());
  CHECK(filled.reshaped({6}).as_double(1) == 0.5);
  const Tensor read(ElementType::f32, {6}, std::string(reinterpret_cast<const char*>(filled.bytes().data()), 24));
  CHECK(read.as_double(5) == 2.5);
  CHECK(Tensor::filled(ElementType::i64, {0, 4}, [](std::span<std::byte> to) { CHECK(to.empty()); }).bytes().empty());
}

}  // namespace stowage
