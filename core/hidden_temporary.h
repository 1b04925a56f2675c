// SPDX-License-Identifier: Apache-2.0
// A file or folder in the making, beside the place that it will take.
#pragma once

#include <filesystem>
#include <system_error>

namespace stowage {

/// What becomes of what stands at the wanted place.
enum class Existing { keep, replace };

/// A new file or folder beside `wanted`, with a name that nobody can guess (".NAME.stowage-" and 16 hexadecimal digits)
/// and held by a lock as long as the object lives. It is removed with the object unless it was put in place. What
/// killed processes left, which nobody holds any more, the next one for the same place removes. On file systems without
/// locks it stays.
class HiddenTemporary {
 public:
  enum class Kind { file, folder };
  HiddenTemporary(const std::filesystem::path& wanted, Kind kind);
  HiddenTemporary(HiddenTemporary&& other) noexcept;
  HiddenTemporary& operator=(HiddenTemporary&&) = delete;
  ~HiddenTemporary();

  /// Why there is none.
  [[nodiscard]] std::error_code error() const { return error_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Of a file, to write to; it stays this object's own.
  [[nodiscard]] int descriptor() const { return descriptor_; }

  /// Renames it to the wanted place, in one step where the file system can do that. errc::file_exists where something
  /// stands there that is to be kept, whenever it appeared. A folder is exchanged for the one that stands there, which
  /// is then removed with this object.
  std::error_code put_in_place(Existing existing);

 private:
  bool make(Kind kind);
  int exchange();

  std::filesystem::path wanted_;
  Kind kind_;
  std::filesystem::path path_;  ///< removed at the end; empty: nothing is
  int descriptor_ = -1;
  std::error_code error_;
};

}  // namespace stowage
