// SPDX-License-Identifier: Apache-2.0
// Splits with more parts than have elements. The cores of the empty parts compute nothing; they make whole the rows and
// columns of the mesh that load together (lowering/model/sharing.h): 7 rows of a picture over 8 cores, say.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/index_expr.h"

namespace stowage {

/// How many of `parts` parts of equal size have elements of `extent`.
inline std::int64_t filled_parts(std::int64_t extent, std::int64_t parts) {
  const std::int64_t elements = std::max<std::int64_t>(1, extent);
  return ceil_div(elements, ceil_div(elements, parts));
}

/// The fewest parts that are at least `filled` and divide `cores`, so that with others they can make up whole rows and
/// columns; `filled` itself where it is more than the cores.
inline std::int64_t parts_in_rows(std::int64_t filled, std::int64_t cores) {
  for (std::int64_t parts = filled; parts < cores; ++parts) {
    if (cores % parts == 0) return parts;
  }
  return std::max(filled, cores);
}

/// Numbers of parts that cut an extent over at most so many cores into different sizes, most first; of these also the
/// fewest with empty ones that rows want.
inline std::vector<std::int64_t> numbers_of_parts(std::int64_t extent, std::int64_t cores) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t parts = cores; parts >= 1; --parts) {
    const std::int64_t filled = filled_parts(extent, parts);
    if (filled == parts || parts == parts_in_rows(filled, cores)) numbers.push_back(parts);
  }
  return numbers;
}

}  // namespace stowage
