// SPDX-License-Identifier: Apache-2.0
#include "core/file_writer.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace stowage {

namespace fs = std::filesystem;

bool is_device(const fs::path& path) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

namespace {

std::error_code write_all(int descriptor, std::span<const std::byte> bytes) {
  constexpr std::size_t maximum = std::size_t{1} << 30;  // the kernel takes less than 2 GiB at once
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), std::min(maximum, bytes.size()));
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return {errno, std::generic_category()};
    }
  }
  return {};
}

}  // namespace

FileWriter::FileWriter(const fs::path& wanted, Existing existing) : existing_(existing) {
  if (is_device(wanted)) {
    device_ = ::open(wanted.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (device_ < 0) error_.assign(errno, std::generic_category());
    return;
  }
  temporary_.emplace(wanted, HiddenTemporary::Kind::file);
  error_ = temporary_->error();
}

FileWriter::~FileWriter() {
  if (device_ >= 0) ::close(device_);
}

int FileWriter::descriptor() const { return error_ ? -1 : temporary_ ? temporary_->descriptor() : device_; }

bool FileWriter::write(std::span<const std::byte> bytes) {
  if (!error_) error_ = write_all(descriptor(), bytes);
  return !error_;
}

bool FileWriter::write(std::string_view text) { return write(std::as_bytes(std::span(text))); }

std::error_code FileWriter::commit() {
  // Some file systems report only on closing that there was no room; the temporary's own descriptor is its lock.
  const int copy = error_ ? -1 : ::dup(descriptor());
  if (!error_ && (copy < 0 || ::close(copy) != 0)) error_.assign(errno, std::generic_category());
  if (!error_ && temporary_) error_ = temporary_->put_in_place(existing_);
  return error_;
}

void write_in_place(const fs::path& path, std::span<const std::byte> bytes) {
  const int descriptor = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  std::error_code error =
      descriptor < 0 ? std::error_code(errno, std::generic_category()) : write_all(descriptor, bytes);
  if (descriptor >= 0 && ::close(descriptor) != 0 && !error) error.assign(errno, std::generic_category());
  if (error) throw fs::filesystem_error("cannot write", path, error);
}

}  // namespace stowage
