// SPDX-License-Identifier: Apache-2.0
// Where a curve bends.
#pragma once

#include <cstddef>
#include <vector>

namespace stowage {

/// Indices of the knees of amounts that belong to ascending values: points that an amount changes to by at least 1 % of
/// what it was before, and behind which it changes by at most half of that part, or the other way. What follows the
/// last point is not known, so it is none.
std::vector<std::size_t> knees_of(const std::vector<double>& amounts);

}  // namespace stowage
