// SPDX-License-Identifier: Apache-2.0
#include "core/partial_file.h"

namespace stowage {

namespace fs = std::filesystem;

bool is_device(const fs::path& path) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

PartialFile::PartialFile(fs::path wanted) : wanted_(std::move(wanted)), partial_(wanted_) {
  if (!is_device(wanted_)) partial_ += ".partial";
}

std::error_code PartialFile::put_in_place() const {
  std::error_code failure;
  if (partial_ != wanted_) fs::rename(partial_, wanted_, failure);
  if (failure) remove();
  return failure;
}

void PartialFile::remove() const {
  std::error_code ignored;
  if (partial_ != wanted_) fs::remove(partial_, ignored);
}

}  // namespace stowage
