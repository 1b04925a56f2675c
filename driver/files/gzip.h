// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace stowage {

/// As gzip packs it (RFC 1952), without a name or time, so that equal texts give equal bytes.
std::string gzipped(std::string_view text);

}  // namespace stowage
