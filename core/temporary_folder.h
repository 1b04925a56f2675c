// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace stowage {

/// A new, empty folder of our own under the system's temporary folder, removed with all it holds.
class TemporaryFolder {
 public:
  /// Throws std::filesystem::filesystem_error where none can be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace stowage
