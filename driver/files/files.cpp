// SPDX-License-Identifier: Apache-2.0
#include "driver/files/files.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

namespace stowage {

namespace fs = std::filesystem;

namespace {

void report(const fs::path& path, const std::string& what, int error, Diagnostics& diagnostics,
            std::string remedy = {}) {
  diagnostics.error("file-error", place_of(path), fmt::format("{}: {}", what, std::generic_category().message(error)),
                    std::move(remedy));
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// Pieces small enough that a stop is noticed at once.
constexpr std::size_t piece = std::size_t{1} << 18;
/// A device may have no end.
constexpr std::size_t max_text_bytes = std::size_t{1} << 28;

Result<File> open_to_read(const std::string& path, Diagnostics& diagnostics) {
  std::error_code failure;
  if (fs::is_directory(path, failure)) {
    diagnostics.error("file-error", place_of(path), "a file was wanted, this is a folder");
    return Failed{};
  }
  File file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    report(path, "cannot be read", errno, diagnostics);
    return Failed{};
  }
  return file;
}

}  // namespace

SourceLocation place_of(const fs::path& path) {
  SourceLocation location;
  location.file = path.string();
  return location;
}

namespace {

/// Piece by piece, until `take` wants no more. False after a reported error.
bool read_pieces(const std::string& path, const std::function<bool(std::string_view)>& take, Diagnostics& diagnostics) {
  auto file = open_to_read(path, diagnostics);
  if (!file) return false;
  std::vector<char> buffer(piece);
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), file->get())) > 0;) {
    if (!take({buffer.data(), got})) return false;
  }
  if (std::ferror(file->get()) == 0) return true;
  report(path, "cannot be read", EIO, diagnostics);
  return false;
}

bool has_size_of_text(std::size_t bytes, const std::string& path, Diagnostics& diagnostics) {
  if (bytes <= max_text_bytes) return true;
  diagnostics.error("file-too-large", place_of(path),
                    fmt::format("more than {} MiB, which no text of ours has", max_text_bytes >> 20),
                    "give the file that was meant");
  return false;
}

}  // namespace

Result<std::string> read_text_file(const std::string& path, Diagnostics& diagnostics) {
  std::string text;
  const auto add = [&](std::string_view part) {
    text.append(part);
    return has_size_of_text(text.size(), path, diagnostics);
  };
  if (!read_pieces(path, add, diagnostics)) return Failed{};
  return text;
}

bool read_lines(const std::string& path, const std::function<void(std::string_view line, bool has_break)>& take,
                Diagnostics& diagnostics) {
  std::string rest;
  const auto add = [&](std::string_view part) {
    rest.append(part);
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = rest.find('\n', begin)) != std::string::npos; begin = end + 1) {
      take(std::string_view(rest).substr(begin, end - begin), true);
    }
    rest.erase(0, begin);
    return has_size_of_text(rest.size(), path, diagnostics);
  };
  if (!read_pieces(path, add, diagnostics)) return false;
  if (!rest.empty()) take(rest, false);
  return true;
}

Result<OpenFile> OpenFile::open(const std::string& path, Diagnostics& diagnostics) {
  auto file = open_to_read(path, diagnostics);
  if (!file) return Failed{};
  struct stat status {};
  if (::fstat(::fileno(file->get()), &status) != 0) {
    report(path, "cannot be read", errno, diagnostics);
    return Failed{};
  }
  return OpenFile(*std::move(file), static_cast<std::size_t>(status.st_size));
}

void OpenFile::read(std::size_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(::fileno(file_.get()), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw std::runtime_error("cannot be read: " + std::generic_category().message(errno));
    if (got == 0) throw std::runtime_error("it was cut short while it was read");
    offset += static_cast<std::size_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

std::vector<std::byte> OpenFile::read(std::size_t offset, std::size_t count) const {
  std::vector<std::byte> bytes(count);
  read(offset, std::span(bytes));
  return bytes;
}

std::string OpenFile::text() const {
  std::string text(size_, '\0');
  read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

namespace {

class RunningHash {
 public:
  RunningHash() { XXH64_reset(state_.get(), 0); }
  void add(const char* bytes, std::size_t count) { XXH64_update(state_.get(), bytes, count); }
  [[nodiscard]] std::string text() const { return fmt::format("xxh64:{:016x}", XXH64_digest(state_.get())); }

 private:
  std::unique_ptr<XXH64_state_t, decltype(&XXH64_freeState)> state_{XXH64_createState(), &XXH64_freeState};
};

}  // namespace

Result<std::string> hash_of_file(const std::string& path, Diagnostics& diagnostics, const std::stop_token& stop) {
  auto file = open_to_read(path, diagnostics);
  if (!file) return Failed{};
  RunningHash hash;
  std::vector<char> buffer(piece);
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), file->get())) > 0;) {
    if (stop.stop_requested()) return Failed{};
    hash.add(buffer.data(), got);
  }
  if (std::ferror(file->get()) != 0) {
    report(path, "cannot be read", EIO, diagnostics);
    return Failed{};
  }
  return hash.text();
}

FolderWriter::FolderWriter(fs::path wanted, FolderContent content, bool force)
    : wanted_(std::move(wanted)),
      content_(content),
      force_(force),
      temporary_(without_slash(wanted_), HiddenTemporary::Kind::folder) {}

Result<FolderWriter> FolderWriter::open(const fs::path& wanted, FolderContent content, bool force,
                                        Diagnostics& diagnostics) {
  if (!may_write_folder(wanted, content, force, {}, diagnostics)) return Failed{};
  std::error_code failure;
  fs::create_directories(without_slash(wanted).parent_path(), failure);
  if (failure) {
    report(wanted, "the folder above it cannot be made", failure.value(), diagnostics);
    return Failed{};
  }
  FolderWriter writer(wanted, content, force);
  if (const std::error_code error = writer.temporary_.error()) {
    report(wanted, "the output folder cannot be made", error.value(), diagnostics,
           "choose a folder that you may write to");
    return Failed{};
  }
  return writer;
}

bool FolderWriter::write(const fs::path& relative, std::string_view text, Diagnostics& diagnostics,
                         std::stop_token stop) {
  return write(relative, std::as_bytes(std::span(text)), diagnostics, stop);
}

bool FolderWriter::write(const fs::path& relative, std::span<const std::byte> bytes, Diagnostics& diagnostics,
                         std::stop_token stop) {
  return write(relative, std::span(&bytes, 1), diagnostics, std::move(stop));
}

bool FolderWriter::write(const fs::path& relative, std::span<const std::span<const std::byte>> pieces,
                         Diagnostics& diagnostics, std::stop_token stop) {
  const fs::path path = folder() / relative;
  std::error_code failure;
  fs::create_directories(path.parent_path(), failure);
  std::FILE* file = failure ? nullptr : std::fopen(path.c_str(), "wbx");
  bool good = file != nullptr;
  bool stopped = false;
  for (std::span<const std::byte> bytes : pieces) {
    while (good && !bytes.empty() && !(stopped = stop.stop_requested())) {
      const std::size_t size = std::min(piece, bytes.size());
      good = std::fwrite(bytes.data(), 1, size, file) == size;
      bytes = bytes.subspan(size);
    }
  }
  if (file != nullptr && std::fclose(file) != 0) good = false;
  if (!good) report(wanted_ / relative, "cannot be written", failure ? failure.value() : errno, diagnostics);
  return good && !stopped;
}

bool FolderWriter::commit(Diagnostics& diagnostics) {
  if (!write(folder_marker, marker_text(folder(), content_), diagnostics)) return false;
  const Existing existing = force_ ? Existing::replace : Existing::keep;
  for (;;) {
    // A folder may have appeared, or the one that is there got other files, since it was looked at.
    if (!may_write_folder(wanted_, content_, force_, {}, diagnostics)) return false;
    const std::error_code error = temporary_.put_in_place(existing);
    if (!error) return true;
    if (error == std::errc::file_exists) continue;
    report(wanted_, "the output folder cannot be put in place", error.value(), diagnostics);
    return false;
  }
}

bool may_write_file(const fs::path& wanted, bool force, std::span<const fs::path> inputs, Diagnostics& diagnostics) {
  std::error_code failure;
  if (fs::is_directory(wanted, failure)) {
    diagnostics.error("output-exists", place_of(wanted), "a file is to be written, and this is a folder",
                      "choose another place");
    return false;
  }
  const bool device = is_device(wanted);
  if (const auto input = device ? std::nullopt : input_replaced_by(wanted, inputs)) {
    diagnostics.error("output-in-use", place_of(wanted),
                      fmt::format("writing it would replace {}, which the command reads", input->string()),
                      "choose another place");
    return false;
  }
  if (force || device || !fs::exists(fs::symlink_status(wanted, failure))) return true;
  diagnostics.error("output-exists", place_of(wanted), "the file exists already", "give --force to replace it");
  return false;
}

struct TextFileWriter::Hash : RunningHash {};

TextFileWriter::TextFileWriter(const fs::path& wanted, Existing existing)
    : wanted_(wanted), writer_(wanted, existing), hash_(std::make_shared<Hash>()) {}

void TextFileWriter::write(std::string_view text) {
  constexpr std::size_t enough = std::size_t{1} << 16;
  hash_->add(text.data(), text.size());
  piece_ += text;
  if (piece_.size() >= enough) flush();
}

void TextFileWriter::flush() {
  writer_.write(piece_);
  piece_.clear();
}

std::string TextFileWriter::hash() const { return hash_->text(); }

bool TextFileWriter::commit(Diagnostics& diagnostics) {
  flush();
  const std::error_code error = writer_.commit();
  if (error == std::errc::file_exists) {
    diagnostics.error("output-exists", place_of(wanted_), "the file appeared while it was made, and was left as it is",
                      "give --force to replace it");
  } else if (error) {
    report(wanted_, "cannot be written", error.value(), diagnostics);
  }
  return !error;
}

bool TextFileWriter::commit_to_disk(Diagnostics& diagnostics) {
  flush();
  // What cannot do that (a network's file system, say) is not waited for.
  if (!writer_.error() && ::fsync(writer_.descriptor()) != 0 && errno == EIO) {
    report(wanted_, "cannot be written", EIO, diagnostics);
    return false;
  }
  if (!commit(diagnostics)) return false;
  const fs::path parent = wanted_.has_parent_path() ? wanted_.parent_path() : fs::path(".");
  const int folder = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool failed = folder >= 0 && ::fsync(folder) != 0 && errno == EIO;
  if (folder >= 0) ::close(folder);
  if (failed) report(parent, "cannot be written", EIO, diagnostics);
  return !failed;
}

bool write_file_whole(const fs::path& wanted, std::string_view text, Existing existing, Diagnostics& diagnostics) {
  TextFileWriter writer(wanted, existing);
  writer.write(text);
  return writer.commit(diagnostics);
}

}  // namespace stowage
