// SPDX-License-Identifier: Apache-2.0
// The tables of a plan for spreadsheets: comma-separated values as RFC 4180 describes them, numbers without grouping, a
// line of headings first. Counts are sums over all cores.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/session/session.h"

namespace stowage {

/// "groups", "operators", "dma", "buffers".
std::vector<std::string> plan_table_names();

/// Nothing for another name.
std::optional<std::string> plan_table_csv(const Program& program, std::string_view table);

}  // namespace stowage
