// SPDX-License-Identifier: Apache-2.0
// How many rows the tiles of a register block have. A tile at a border of a picture, or at the end of an uneven split,
// has fewer than a full one; but which numbers occur follows from the nest, and where they are few each is emitted for
// itself, in blocks as equal as those of a full tile: of 15 rows 8 and 7, where any number of rows has to be cut into
// 8, 4, 2 and 1, whose few sums wait for each other.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "lowering/ir/loop_nest.h"
#include "lowering/time/counts.h"

namespace stowage {

/// Numbers of rows, most first. Empty: not known, more than `most_known_rows`, or constant.
using KnownRows = std::vector<std::int64_t>;
inline constexpr std::size_t most_known_rows = 3;

/// Those of the tiles of a computation of the nest, whose counts are `totals`.
KnownRows known_rows(const LoopNest& nest, const Compute& compute, const ComputeTotals& totals);

/// Those of every computation that has any, by Stmt::id.
std::map<StatementId, KnownRows> known_rows(const LoopNest& nest);

}  // namespace stowage
