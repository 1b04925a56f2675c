// SPDX-License-Identifier: Apache-2.0
// Where the tests' large data lies: ../shared beside the checkout, or where STOWAGE_SHARED points. It is not part of
// the project; a test that misses some says WARN("skipped, 3 cases: …"), which tests/skip_listener.cpp counts.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "tests/places.h"

namespace stowage::test {

inline std::optional<std::filesystem::path> shared_file(const std::filesystem::path& relative) {
  const char* elsewhere = std::getenv("STOWAGE_SHARED");
  const std::filesystem::path root = elsewhere != nullptr ? elsewhere : source_folder().parent_path() / "shared";
  std::error_code ignored;
  if (!std::filesystem::exists(root / relative, ignored)) return std::nullopt;
  return root / relative;
}

}  // namespace stowage::test
