// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace stowage {

/// A new, empty folder of our own under the system's temporary folder, removed with all it holds. Where the process is
/// killed it stays; the next one that is made, there by any process of this user, removes it
/// first: its owner no longer holds the lock.
class TemporaryFolder {
 public:
  /// Throws std::filesystem::filesystem_error where none can be made.
  TemporaryFolder();
  explicit TemporaryFolder(const std::filesystem::path& below);  ///< in another folder than the system's
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;  ///< open folder, locked while it is in use
};

}  // namespace stowage
