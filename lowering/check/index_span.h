// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "core/index_expr.h"

namespace stowage {

/// First and last value of an index where its variables have these; nothing where the values between them are not all
/// met closely: it depends on the value of a tensor, or leaps.
std::optional<Interval> span_of(const IndexExpr& e, const std::vector<Interval>& variables);

}  // namespace stowage
