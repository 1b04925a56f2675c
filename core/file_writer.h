// SPDX-License-Identifier: Apache-2.0
// How every file that a user asks for is written.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "core/hidden_temporary.h"

namespace stowage {

/// True for what stands there and is neither file nor folder: a device or a pipe, which is written to and not replaced.
bool is_device(const std::filesystem::path& path);

/// A file on its way: written beside the wanted place (HiddenTemporary), then put there by renaming, so that it appears
/// whole or not at all; without commit() nothing is left of it. A symbolic link at the wanted place is replaced, not
/// followed. A device is written to directly.
class FileWriter {
 public:
  explicit FileWriter(const std::filesystem::path& wanted, Existing existing = Existing::replace);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter();

  /// What failed first, if anything did; nothing is written after that.
  [[nodiscard]] std::error_code error() const { return error_; }
  /// For writers that want one; negative after an error.
  [[nodiscard]] int descriptor() const;
  bool write(std::span<const std::byte> bytes);
  bool write(std::string_view text);
  /// errc::file_exists where another file appeared that is to be kept.
  std::error_code commit();

 private:
  Existing existing_;
  std::optional<HiddenTemporary> temporary_;  ///< nothing: a device
  int device_ = -1;
  std::error_code error_;
};

/// Writes a file where it stands, whole or in part: for folders of our own that nobody else looks into
/// (TemporaryFolder). Throws std::filesystem::filesystem_error with the reason.
void write_in_place(const std::filesystem::path& path, std::span<const std::byte> bytes);

}  // namespace stowage
