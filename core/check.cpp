// SPDX-License-Identifier: Apache-2.0
#include "core/check.h"

#include <fmt/format.h>

namespace stowage {

InternalError::InternalError(std::string_view what, CodeLocation where)
    : std::logic_error(fmt::format("{}:{}: {}", where.file, where.line, what)) {}

void fail_check(std::string_view what, CodeLocation where) { throw InternalError(what, where); }

}  // namespace stowage
