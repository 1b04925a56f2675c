// SPDX-License-Identifier: Apache-2.0
// Files and folders of the tool: read whole, hashed, and written so that they appear whole or not at all.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/diagnostics.h"
#include "core/file_writer.h"
#include "driver/files/output_folder.h"

namespace stowage {

/// A file or folder as the place of a diagnostic.
SourceLocation place_of(const std::filesystem::path& path);

Result<std::string> read_text_file(const std::string& path, Diagnostics& diagnostics);

/// The lines of such a file one by one, without their breaks, which the last one may lack: all at once may be much.
/// False after a reported error.
bool read_lines(const std::string& path, const std::function<void(std::string_view line, bool has_break)>& take,
                Diagnostics& diagnostics);

/// A file that is open, to be read where it is wanted: all of it at once would be much of the memory.
class OpenFile {
 public:
  static Result<OpenFile> open(const std::string& path, Diagnostics& diagnostics);
  [[nodiscard]] std::size_t size() const { return size_; }
  /// So many bytes from `offset` on; std::runtime_error where it has fewer, or cannot be read.
  [[nodiscard]] std::vector<std::byte> read(std::size_t offset, std::size_t count) const;
  [[nodiscard]] std::string text() const;  ///< all of it, or the same exceptions

 private:
  void read(std::size_t offset, std::span<std::byte> bytes) const;
  OpenFile(std::shared_ptr<std::FILE> file, std::size_t size) : file_(std::move(file)), size_(size) {}
  std::shared_ptr<std::FILE> file_;
  std::size_t size_ = 0;
};

/// "xxh64:…" of a file's bytes, read in pieces. Fails without a diagnostic when stopped.
Result<std::string> hash_of_file(const std::string& path, Diagnostics& diagnostics, const std::stop_token& stop = {});

/// A folder in the making (HiddenTemporary). commit() puts it in place by renaming; whatever happens before that (an
/// error, a stop, an exception) leaves the wanted place as it was.
class FolderWriter {
 public:
  /// Reports a folder that may not be replaced (may_write_folder) or a parent that cannot be written to.
  static Result<FolderWriter> open(const std::filesystem::path& wanted, FolderContent content, bool force,
                                   Diagnostics& diagnostics);

  /// Writes a file at a path relative to the folder; parents are made. False after a reported error or a stop.
  bool write(const std::filesystem::path& relative, std::string_view text, Diagnostics& diagnostics,
             std::stop_token stop = {});
  bool write(const std::filesystem::path& relative, std::span<const std::byte> bytes, Diagnostics& diagnostics,
             std::stop_token stop = {});
  /// The pieces one behind the other.
  bool write(const std::filesystem::path& relative, std::span<const std::span<const std::byte>> pieces,
             Diagnostics& diagnostics, std::stop_token stop = {});
  /// Where the files are until then.
  [[nodiscard]] const std::filesystem::path& folder() const { return temporary_.path(); }
  /// Lists the files in the folder's marker and puts it in place. Only after it was replaced does the old one vanish.
  /// A folder that appeared meanwhile is reported as open() does.
  bool commit(Diagnostics& diagnostics);

 private:
  FolderWriter(std::filesystem::path wanted, FolderContent content, bool force);
  std::filesystem::path wanted_;
  FolderContent content_{};
  bool force_ = false;
  HiddenTemporary temporary_;
};

/// True if a file may be written there: none exists but perhaps a device, or `force`, and no folder nor any of
/// `inputs`, the files and folders that the command reads (input_replaced_by). Else that is reported.
bool may_write_file(const std::filesystem::path& wanted, bool force, std::span<const std::filesystem::path> inputs,
                    Diagnostics& diagnostics);
/// A text file on its way: as FileWriter, with a hash of what was written.
class TextFileWriter {
 public:
  TextFileWriter(const std::filesystem::path& wanted, Existing existing);
  void write(std::string_view text);
  /// "xxh64:…" of all that was written.
  [[nodiscard]] std::string hash() const;
  /// False after a reported error, also of a write; output-exists where a file appeared that is to be kept.
  bool commit(Diagnostics& diagnostics);
  /// The same, on the disk: after a power failure there is the file that was there before, or this one, whole.
  bool commit_to_disk(Diagnostics& diagnostics);

 private:
  struct Hash;
  void flush();
  std::filesystem::path wanted_;
  FileWriter writer_;
  std::shared_ptr<Hash> hash_;
  std::string piece_;  ///< not written yet
};

/// Writes one file as FileWriter does; output-exists where one appeared that is to be kept.
bool write_file_whole(const std::filesystem::path& wanted, std::string_view text, Existing existing,
                      Diagnostics& diagnostics);

}  // namespace stowage
