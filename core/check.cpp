// SPDX-License-Identifier: Apache-2.0
#include "core/check.h"

#include <fmt/format.h>

namespace stowage {

InternalError::InternalError(std::string_view what, std::source_location where)
    : std::logic_error(fmt::format("{}:{}: {}", where.file_name(), where.line(), what)) {}

void fail_check(std::string_view what, std::source_location where) { throw InternalError(what, where); }

}  // namespace stowage
