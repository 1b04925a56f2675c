// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <utility>

#include <catch2/catch.hpp>

#include "core/tensor.h"
#include "lowering/time/dma_shape.h"

namespace stowage::dma_shape_test {
namespace {

using Extents = std::vector<std::int64_t>;

DmaShape shape_of(const Extents& full, const Extents& buffer, const Extents& tensor) {
  return dma_shape(full, buffer, row_major_strides(tensor));
}

using Moved = std::vector<std::pair<std::int64_t, std::int64_t>>;  // (memory element, buffer element)

void for_each_index(const Extents& extents, const std::function<void(const Extents&)>& visit) {
  Extents index(extents.size(), 0);
  for (;;) {
    visit(index);
    std::size_t d = extents.size();
    while (d > 0 && ++index[d - 1] == extents[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

std::int64_t address(const Extents& index, const Extents& strides) {
  std::int64_t sum = 0;
  for (std::size_t d = 0; d < index.size(); ++d) sum += index[d] * strides[d];
  return sum;
}

/// Carries out the calls that the header promises, as the machine would: count blocks, packed in the buffer.
Moved carry_out(const DmaShape& shape, const Extents& extents, std::int64_t& calls) {
  Moved moved;
  const std::size_t rank = extents.size();
  const auto call = [&](std::int64_t memory, std::int64_t buffer, std::int64_t length, std::int64_t block,
                        std::int64_t gap) {
    ++calls;
    for (std::int64_t i = 0; i < length; ++i) moved.emplace_back(memory + i + (i / block) * gap, buffer + i);
  };
  const DmaCalls structure = calls_of(shape, extents);
  const std::size_t outer = structure.strided_from;
  for_each_index(Extents(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(outer)),
                 [&](const Extents& index) {
                   Extents start(rank, 0);
                   std::copy(index.begin(), index.end(), start.begin());
                   std::int64_t length = 1;
                   for (std::size_t d = outer; d < rank; ++d) length *= extents[d];
                   std::int64_t block = 1;
                   for (std::size_t d = structure.block_from; d < rank; ++d) block *= extents[d];
                   call(address(start, shape.memory_strides), address(start, shape.buffer_strides), length, block,
                        structure.is_strided() ? shape.gap : 0);
                 });
  return moved;
}

TEST_CASE("a row of a matrix is one block, a tile of one a strided call", "[dma_shape]") {
  // A[1,1024] read 64 at a time; B[1024,1024] read as a 64 x 128 tile (swTVM section 5.2).
  const DmaShape a = shape_of({1, 64}, {1, 64}, {1, 1024});
  CHECK(a.block_from == 0);
  CHECK(a.strided_from == 0);
  CHECK(count_operations(a, Extents{1, 64}) == DmaCount{1, 64, 64});

  const DmaShape b = shape_of({64, 128}, {64, 128}, {1024, 1024});
  CHECK(b.block_from == 1);
  CHECK(b.strided_from == 0);
  CHECK(b.gap == 1024 - 128);
  CHECK(count_operations(b, Extents{64, 128}) == DmaCount{1, 64 * 128, 128});
}

TEST_CASE("dimensions taken whole merge into one block", "[dma_shape]") {
  const DmaShape shape = shape_of({4, 14, 14}, {4, 14, 14}, {32, 14, 14});
  CHECK(shape.block_from == 0);
  CHECK(count_operations(shape, Extents{4, 14, 14}) == DmaCount{1, 784, 784});
  CHECK(count_operations(shape, Extents{3, 14, 14}) == DmaCount{1, 588, 588});  // shorter outermost: still one block
  CHECK(count_operations(shape, Extents{3, 13, 14}) == DmaCount{3, 546, 13 * 14});  // a block for each of the outermost
}

TEST_CASE("a padded buffer keeps rows apart", "[dma_shape]") {
  // Rows of 56 in a buffer of 58: the LDM side of two rows does not abut, so nothing can be strided.
  const DmaShape shape = shape_of({8, 10, 56}, {8, 10, 58}, {64, 56, 56});
  CHECK(shape.block_from == 2);
  CHECK(shape.strided_from == 2);
  CHECK(count_operations(shape, Extents{8, 10, 56}) == DmaCount{80, 80 * 56, 56});
}

TEST_CASE("two dimensions join one count where both strides continue", "[dma_shape]") {
  // Channels 0..7 of 16 of a [4,6,16] tensor: rows and columns have the same pitch.
  const DmaShape shape = shape_of({4, 6, 8}, {4, 6, 8}, {4, 6, 16});
  CHECK(shape.block_from == 2);
  CHECK(shape.strided_from == 0);
  CHECK(shape.gap == 8);
  CHECK(count_operations(shape, Extents{4, 6, 8}) == DmaCount{1, 192, 8});
  CHECK(count_operations(shape, Extents{2, 6, 8}) == DmaCount{1, 96, 8});
  CHECK(count_operations(shape, Extents{4, 5, 8}) == DmaCount{4, 160, 8});
  CHECK(count_operations(shape, Extents{4, 6, 7}) == DmaCount{24, 168, 7});
}

TEST_CASE("what is neither block nor count is a loop of calls", "[dma_shape]") {
  const DmaShape shape = shape_of({3, 4, 8}, {3, 4, 8}, {3, 10, 16});
  CHECK(shape.block_from == 2);
  CHECK(shape.strided_from == 1);
  CHECK(count_operations(shape, Extents{3, 4, 8}) == DmaCount{3, 96, 8});
  CHECK(count_operations(shape, Extents{2, 3, 8}) == DmaCount{2, 48, 8});
}

TEST_CASE("extents of one join any level and end none", "[dma_shape]") {
  SECTION("between block dimensions") {
    const DmaShape shape = shape_of({4, 1, 14}, {4, 1, 14}, {8, 1, 14});
    CHECK(shape.block_from == 0);
    CHECK(count_operations(shape, Extents{2, 1, 14}) == DmaCount{1, 28, 14 * 2});
  }
  SECTION("one row out of many, then the channels: the rows' dimension does not hide the count") {
    const DmaShape shape = shape_of({8, 1, 56}, {8, 1, 56}, {64, 56, 56});
    CHECK(shape.strided_from == 0);
    CHECK(shape.gap == 55 * 56);
    CHECK(calls_of(shape, Extents{5, 1, 50}) == DmaCalls{2, 2});
    CHECK(count_operations(shape, Extents{5, 1, 56}) == DmaCount{1, 280, 56});
  }
  SECTION("innermost") {
    const DmaShape shape = shape_of({8, 1}, {8, 1}, {100, 6});
    CHECK(shape.block_from == 1);
    CHECK(shape.gap == 5);
    CHECK(count_operations(shape, Extents{8, 1}) == DmaCount{1, 8, 1});
  }
  SECTION("all") {
    const DmaShape shape = shape_of({1, 1, 1}, {1, 1, 1}, {7, 7, 7});
    CHECK(calls_where(shape, std::vector<std::optional<std::int64_t>>(3)).size() == 1);
    CHECK(count_operations(shape, Extents{1, 1, 1}) == DmaCount{1, 1, 1});
  }
}

TEST_CASE("a scalar is one operation and an empty box none", "[dma_shape]") {
  CHECK(count_operations(shape_of({}, {}, {}), Extents{}) == DmaCount{1, 1, 1});
  const DmaShape shape = shape_of({4, 8}, {4, 8}, {16, 16});
  CHECK(count_operations(shape, Extents{0, 8}) == DmaCount{0, 0, 0});
  CHECK(count_operations(shape, Extents{4, -3}) == DmaCount{0, 0, 0});
}

TEST_CASE("a strided innermost dimension moves element by element", "[dma_shape]") {
  const DmaShape shape = dma_shape(Extents{3, 5}, Extents{3, 5}, Extents{1, 40});
  CHECK(shape.block_from == 2);
  CHECK(shape.strided_from == 1);
  CHECK(shape.gap == 39);
  CHECK(count_operations(shape, Extents{3, 5}) == DmaCount{3, 15, 1});
  CHECK(count_operations(shape, Extents{3, 2}) == DmaCount{3, 6, 1});
}

TEST_CASE("the calls move exactly the box, for random boxes", "[dma_shape]") {
  const unsigned seed = 20240521;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int trial = 0; trial < 4000; ++trial) {
    const auto rank = static_cast<std::size_t>(draw(1, 4));
    Extents tensor, full, buffer, extents;
    for (std::size_t d = 0; d < rank; ++d) {
      tensor.push_back(draw(1, 5));
      full.push_back(draw(0, 2) == 0 ? draw(1, tensor.back()) : tensor.back());
      buffer.push_back(full.back() + (draw(0, 3) == 0 ? draw(0, 2) : 0));
      extents.push_back(draw(0, 2) == 0 ? draw(1, full.back()) : full.back());
    }
    Extents strides = row_major_strides(tensor);
    if (draw(0, 4) == 0) {
      const std::int64_t factor = draw(2, 3);
      for (std::int64_t& stride : strides) stride *= factor;  // an innermost stride that is not 1
    }
    const DmaShape shape = dma_shape(full, buffer, strides);
    std::int64_t calls = 0;
    Moved moved = carry_out(shape, extents, calls);
    Moved wanted;
    for_each_index(extents, [&](const Extents& index) {
      wanted.emplace_back(address(index, strides), address(index, row_major_strides(buffer)));
    });
    std::sort(moved.begin(), moved.end());
    std::sort(wanted.begin(), wanted.end());
    CAPTURE(trial, tensor, full, buffer, extents, strides);
    REQUIRE(moved == wanted);
    const DmaCount count = count_operations(shape, extents);
    REQUIRE(count.operations == calls);
    REQUIRE(count.elements == static_cast<std::int64_t>(wanted.size()));
    // Of the ways that all boxes with some of these extents may take, the first that holds of this one is its own.
    std::vector<std::optional<std::int64_t>> known(rank);
    for (std::size_t d = 0; d < rank; ++d) {
      if (draw(0, 1) == 0) known[d] = extents[d];
    }
    const std::vector<DmaCallsWhere> possible = calls_where(shape, known);
    const auto holds = std::find_if(possible.begin(), possible.end(), [&](const DmaCallsWhere& where) {
      return std::all_of(where.full.begin(), where.full.end(),
                         [&](std::size_t d) { return extents[d] == shape.full[d]; });
    });
    REQUIRE(holds != possible.end());
    REQUIRE(holds->calls == calls_of(shape, extents));
    REQUIRE(possible.back().full.empty());
  }
}

}  // namespace
}  // namespace stowage::dma_shape_test
