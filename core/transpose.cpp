// SPDX-License-Identifier: Apache-2.0
#include "core/transpose.h"

#include <algorithm>
#include <cstring>

#include "core/check.h"
#include "core/parallel.h"

namespace stowage {
namespace {

/// Columns first … end - 1 of one matrix.
template <std::size_t width>
void transpose_columns(const std::byte* from, std::byte* to, std::size_t rows, std::size_t columns, std::size_t first,
                       std::size_t end) {
  constexpr std::size_t block = 32;  // a block of both matrices stays in the cache
  for (std::size_t r0 = 0; r0 < rows; r0 += block) {
    for (std::size_t c0 = first; c0 < end; c0 += block) {
      for (std::size_t r = r0; r < std::min(rows, r0 + block); ++r) {
        for (std::size_t c = c0; c < std::min(end, c0 + block); ++c) {
          std::memcpy(to + (c * rows + r) * width, from + (r * columns + c) * width, width);
        }
      }
    }
  }
}

using TransposeColumns = decltype(&transpose_columns<1>);

TransposeColumns transpose_of(int width) {
  switch (width) {
    case 1: return &transpose_columns<1>;
    case 2: return &transpose_columns<2>;
    case 4: return &transpose_columns<4>;
    case 8: return &transpose_columns<8>;
    default: fail_check("an element of an unknown size");
  }
}

}  // namespace

void transpose_each(std::span<const std::byte> from, std::span<std::byte> to, int width, std::size_t rows,
                    std::size_t columns) {
  const std::size_t matrix = rows * columns * static_cast<std::size_t>(width);
  check(from.size() == to.size() && (matrix == 0 ? from.empty() : from.size() % matrix == 0),
        "a number of matrices is transposed");
  if (matrix == 0) return;
  const TransposeColumns transpose = transpose_of(width);
  // Rows of the results, all matrices counted through: what one thread writes lies together.
  const std::size_t row_bytes = rows * static_cast<std::size_t>(width);
  parallel_ranges(from.size() / row_bytes, row_bytes, [&](std::size_t row, std::size_t end) {
    while (row < end) {
      const std::size_t at = row / columns * matrix;
      const std::size_t column = row % columns;
      const std::size_t last = std::min(columns, column + (end - row));
      transpose(from.data() + at, to.data() + at, rows, columns, column, last);
      row += last - column;
    }
  });
}

}  // namespace stowage
