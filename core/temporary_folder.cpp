// SPDX-License-Identifier: Apache-2.0
#include "core/temporary_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "core/file_lock.h"

namespace stowage {
namespace {

namespace fs = std::filesystem;

/// A name that nobody gives to a folder of his own.
constexpr std::string_view prefix = ".stowage-temporary-";
constexpr std::string_view pattern = "XXXXXX";  // of mkdtemp

/// Opens a folder of this user that nobody else can look into. -1: it is none.
int open_private(const fs::path& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return -1;
  struct stat status {};
  if (fstat(folder, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 0777U) == S_IRWXU) return folder;
  close(folder);
  return -1;
}

bool is_ours(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(prefix) && name.size() == prefix.size() + pattern.size();
}

void remove_leftovers(const fs::path& below) {
  std::error_code ignored;
  for (fs::directory_iterator entry(below, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    if (!is_ours(entry->path())) continue;
    const int folder = open_private(entry->path());
    if (folder < 0) continue;
    std::error_code kept;
    if (try_lock(folder) == Lock::held) fs::remove_all(entry->path(), kept);
    close(folder);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() : TemporaryFolder(fs::temp_directory_path()) {}

TemporaryFolder::TemporaryFolder(const fs::path& below) {
  remove_leftovers(below);
  for (;;) {
    std::string name = (below / prefix).string() + std::string(pattern);
    if (mkdtemp(name.data()) == nullptr) {
      throw fs::filesystem_error("cannot make a temporary folder", name,
                                 std::error_code(errno, std::generic_category()));
    }
    path_ = name;
    lock_ = open_private(path_);
    // Where the file system has no locks, nobody removes leftovers either.
    // Before it was locked, another process may have taken it for a leftover.
    if (lock_ >= 0 && try_lock(lock_) != Lock::taken && is_at(path_, lock_)) return;
    if (lock_ >= 0) close(lock_);
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

}  // namespace stowage
