// SPDX-License-Identifier: Apache-2.0
#include "driver/files.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/partial_file.h"

namespace stowage {

namespace fs = std::filesystem;

namespace {

SourcePlace place_of(const fs::path& path) {
  SourcePlace place;
  place.file = path.string();
  return place;
}

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
constexpr std::size_t piece = std::size_t{1} << 22;

/// Makes something under a free name beside `wanted`: ".NAME.PID.N". Returns its path, or nothing with errno set.
template <class Make>
fs::path make_beside(const fs::path& wanted, const Make& make) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    fs::path path = wanted.parent_path() / fmt::format(".{}.{}.{}", wanted.filename().string(), ::getpid(), attempt);
    if (make(path.c_str())) return path;
    if (errno != EEXIST) break;
  }
  return {};
}

/// Holds a file or folder as long as the descriptor is open, which ends with the process however that ends. False where
/// another one holds it.
bool hold(int descriptor) { return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0; }

/// The process in the name of a temporary of `wanted` (see make_beside), or nothing.
std::optional<pid_t> maker_of(const std::string& name, const fs::path& wanted) {
  const std::string prefix = fmt::format(".{}.", wanted.filename().string());
  if (!name.starts_with(prefix)) return std::nullopt;
  const char* const end = name.data() + name.size();
  pid_t process = 0;
  int attempt = 0;
  const auto [dot, wrong] = std::from_chars(name.data() + prefix.size(), end, process);
  if (wrong != std::errc() || process <= 0 || dot == end || *dot != '.') return std::nullopt;
  const auto [rest, wrong_too] = std::from_chars(dot + 1, end, attempt);
  const std::string_view behind(rest, static_cast<std::size_t>(end - rest));
  if (wrong_too != std::errc() || (!behind.empty() && behind != ".old")) return std::nullopt;
  return process;
}

/// Removes temporaries that processes left behind when they were killed: their process is gone, and nobody holds them.
/// (The number alone would not do: a process of another container has one of its own.)
void remove_left_behind(const fs::path& wanted) {
  std::error_code failure;
  std::vector<fs::path> left;
  for (fs::directory_iterator entry(wanted.parent_path(), failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const auto process = maker_of(entry->path().filename().string(), wanted);
    if (process && ::kill(*process, 0) != 0 && errno == ESRCH) left.push_back(entry->path());
  }
  for (const fs::path& path : left) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) continue;
    if (hold(descriptor)) fs::remove_all(path, failure);
    ::close(descriptor);
  }
}

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

Result<std::string> read_text_file(const std::string& path, Diagnostics& diagnostics) {
  auto file = open_to_read(path, diagnostics);
  if (!file) return Failed{};
  std::string text;
  std::vector<char> buffer(piece);
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), file->get())) > 0;) {
    text.append(buffer.data(), got);
  }
  if (std::ferror(file->get()) != 0) {
    report(path, "cannot be read", EIO, diagnostics);
    return Failed{};
  }
  return text;
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

Result<std::string> hash_of_file(const std::string& path, Diagnostics& diagnostics, const std::stop_token& stop) {
  auto file = open_to_read(path, diagnostics);
  if (!file) return Failed{};
  const std::unique_ptr<XXH64_state_t, decltype(&XXH64_freeState)> state(XXH64_createState(), &XXH64_freeState);
  XXH64_reset(state.get(), 0);
  std::vector<char> buffer(piece);
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), file->get())) > 0;) {
    if (stop.stop_requested()) return Failed{};
    XXH64_update(state.get(), buffer.data(), got);
  }
  if (std::ferror(file->get()) != 0) {
    report(path, "cannot be read", EIO, diagnostics);
    return Failed{};
  }
  return fmt::format("xxh64:{:016x}", XXH64_digest(state.get()));
}

FolderWriter::FolderWriter(fs::path wanted, fs::path temporary, int lock, FolderContent content, bool force)
    : wanted_(std::move(wanted)), temporary_(std::move(temporary)), lock_(lock), content_(content), force_(force) {}

FolderWriter::FolderWriter(FolderWriter&& other) noexcept
    : wanted_(std::move(other.wanted_)),
      temporary_(std::exchange(other.temporary_, {})),
      lock_(std::exchange(other.lock_, -1)),
      content_(other.content_),
      force_(other.force_) {}

FolderWriter::~FolderWriter() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

Result<FolderWriter> FolderWriter::open(const fs::path& wanted, FolderContent content, bool force,
                                        Diagnostics& diagnostics) {
  if (!may_write_folder(wanted, content, force, {}, diagnostics)) return Failed{};
  fs::path folder = without_slash(wanted);
  std::error_code failure;
  fs::create_directories(folder.parent_path(), failure);
  if (failure) {
    report(wanted, "the folder above it cannot be made", failure.value(), diagnostics);
    return Failed{};
  }
  remove_left_behind(folder);
  fs::path temporary = make_beside(folder, [](const char* path) { return ::mkdir(path, 0777) == 0; });
  if (temporary.empty()) {
    report(wanted, "the output folder cannot be made", errno, diagnostics, "choose a folder that you may write to");
    return Failed{};
  }
  // Where locks do not work the process's number alone protects the folder.
  const int lock = ::open(temporary.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock >= 0) hold(lock);
  return FolderWriter(std::move(folder), std::move(temporary), lock, content, force);
}

bool FolderWriter::write(const fs::path& relative, std::string_view text, Diagnostics& diagnostics,
                         std::stop_token stop) {
  return write(relative, std::as_bytes(std::span(text)), diagnostics, stop);
}

bool FolderWriter::write(const fs::path& relative, std::span<const std::byte> bytes, Diagnostics& diagnostics,
                         std::stop_token stop) {
  const fs::path path = temporary_ / relative;
  std::error_code failure;
  fs::create_directories(path.parent_path(), failure);
  std::FILE* file = failure ? nullptr : std::fopen(path.c_str(), "wb");
  bool good = file != nullptr;
  bool stopped = false;
  while (good && !bytes.empty() && !(stopped = stop.stop_requested())) {
    const std::size_t size = std::min(piece, bytes.size());
    good = std::fwrite(bytes.data(), 1, size, file) == size;
    bytes = bytes.subspan(size);
  }
  if (file != nullptr && std::fclose(file) != 0) good = false;
  if (!good) report(wanted_ / relative, "cannot be written", failure ? failure.value() : errno, diagnostics);
  return good && !stopped;
}

bool FolderWriter::commit(Diagnostics& diagnostics) {
  return write(folder_marker, marker_text(temporary_, content_), diagnostics) && put_in_place(diagnostics);
}

bool FolderWriter::put_in_place(Diagnostics& diagnostics) {
  // What is there may have got other files since.
  if (!may_write_folder(wanted_, content_, force_, {}, diagnostics)) return false;
  if (fs::exists(fs::symlink_status(wanted_))) {
    // One step, so that at every moment a whole folder stands there; what was there goes with the temporary's name.
    if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, wanted_.c_str(), RENAME_EXCHANGE) == 0) return true;
    // File systems that cannot exchange: the old one steps aside first.
    const fs::path old = temporary_.string() + ".old";
    if (::rename(wanted_.c_str(), old.c_str()) == 0) {
      if (::rename(temporary_.c_str(), wanted_.c_str()) == 0) {
        temporary_ = old;
        return true;
      }
      ::rename(old.c_str(), wanted_.c_str());
    }
    report(wanted_, "the folder that is there cannot be replaced", errno, diagnostics);
    return false;
  }
  if (::rename(temporary_.c_str(), wanted_.c_str()) != 0) {
    report(wanted_, "the output folder cannot be put in place", errno, diagnostics);
    return false;
  }
  temporary_.clear();
  return true;
}

bool may_write_file(const fs::path& wanted, bool force, Diagnostics& diagnostics) {
  std::error_code failure;
  if (fs::is_directory(wanted, failure)) {
    diagnostics.error("output-exists", place_of(wanted), "a file is to be written, and this is a folder",
                      "choose another place");
    return false;
  }
  if (force || is_device(wanted) || !fs::exists(wanted, failure)) return true;
  diagnostics.error("output-exists", place_of(wanted), "the file exists already", "give --force to replace it");
  return false;
}

namespace {

/// Writes all and closes. 0, or the errno of what failed first.
int write_and_close(File file, std::string_view text) {
  errno = 0;
  int error = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() ? 0 : errno;
  if (std::fclose(file.release()) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace

bool write_file_whole(const fs::path& wanted, std::string_view text, Diagnostics& diagnostics) {
  if (is_device(wanted)) {  // which a renamed temporary would replace
    File file(std::fopen(wanted.c_str(), "wb"));
    const int error = file ? write_and_close(std::move(file), text) : errno;
    if (error != 0) report(wanted, "cannot be written", error, diagnostics);
    return error == 0;
  }
  int descriptor = -1;
  remove_left_behind(fs::absolute(wanted));
  const fs::path temporary = make_beside(fs::absolute(wanted), [&](const char* path) {
    descriptor = ::open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    return descriptor >= 0;
  });
  if (descriptor >= 0) hold(descriptor);
  if (temporary.empty()) {
    report(wanted, "cannot be written", errno, diagnostics);
    return false;
  }
  int error = write_and_close(File(::fdopen(descriptor, "wb")), text);
  if (error == 0 && ::rename(temporary.c_str(), wanted.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    report(wanted, "cannot be written", error, diagnostics);
  }
  return error == 0;
}

}  // namespace stowage
