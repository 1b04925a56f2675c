// SPDX-License-Identifier: Apache-2.0
// Where a file is written until it is whole.
#pragma once

#include <filesystem>
#include <system_error>

namespace stowage {

/// True for what stands there and is neither file nor folder: a device or a pipe, which is written to and not replaced.
bool is_device(const std::filesystem::path& path);

/// A file on its way: written at `partial()`, then put in place by renaming, so that it appears whole or not at all.
/// A device is written to directly.
class PartialFile {
 public:
  explicit PartialFile(std::filesystem::path wanted);
  [[nodiscard]] const std::filesystem::path& partial() const { return partial_; }
  /// What went wrong, if anything did; the partial file is gone then.
  std::error_code put_in_place() const;
  void remove() const;

 private:
  std::filesystem::path wanted_;
  std::filesystem::path partial_;
};

}  // namespace stowage
