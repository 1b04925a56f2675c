// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace stowage {

/// All bytes of a file, as they are; "" where it cannot be read.
std::string read_whole(const std::filesystem::path& path);

}  // namespace stowage
