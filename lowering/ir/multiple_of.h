// SPDX-License-Identifier: Apache-2.0
// What divides an index expression, whatever its variables are.
#pragma once

#include <cstdint>

#include "core/index_expr.h"

namespace stowage {

/// True if an expression is a multiple of `unit` whatever its variables are; false where that does not show.
bool is_multiple(const IndexExpr& e, std::int64_t unit);

/// The largest power of two, at most `limit` (one itself), that is shown to divide an expression.
std::int64_t power_of_two_dividing(const IndexExpr& e, std::int64_t limit);

}  // namespace stowage
