// SPDX-License-Identifier: Apache-2.0
// Amounts of a computer's memory, as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stowage {

/// "512M", "1.5GiB" in bytes: K, M, G and T are powers of 1024. Nothing where it is no such size or less than a process
/// of ours needs to begin (32M); `why_not` says which.
std::optional<std::int64_t> parse_memory_size(std::string_view text, std::string& why_not);

}  // namespace stowage
