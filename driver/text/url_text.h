// SPDX-License-Identifier: Apache-2.0
// Names in addresses.
#pragma once

#include <string>
#include <string_view>

namespace stowage {

/// One part of a path in a URL, between two '/': every byte but letters, digits and "-._~" as "%2f". "." and ".." are
/// folders there, too.
std::string url_segment(std::string_view text);

}  // namespace stowage
