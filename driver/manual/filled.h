// SPDX-License-Identifier: Apache-2.0
// Scripts with places to fill in.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stowage {

/// The text with @NAME@ replaced by the value of NAME.
std::string filled(std::string_view text, const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace stowage
