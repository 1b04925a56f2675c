// SPDX-License-Identifier: Apache-2.0
#include "core/hidden_temporary.h"

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file_lock.h"
#include "core/temporary_name.h"

namespace stowage {

namespace fs = std::filesystem;

namespace {

void remove_left_behind(const fs::path& wanted) {
  const std::string name = wanted.filename().string();
  std::error_code failure;
  std::vector<fs::path> left;
  for (fs::directory_iterator entry(wanted.parent_path(), failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const std::string temporary = entry->path().filename().string();
    if (!name.empty() && name_behind_temporary(temporary) == cut_name(name)) left.push_back(entry->path());
  }
  for (const fs::path& path : left) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) continue;
    if (try_lock(descriptor) == Lock::held) fs::remove_all(path, failure);
    ::close(descriptor);
  }
}

/// 0 or an errno; EEXIST where something stands at `to`.
int rename_without_replacing(const fs::path& from, const fs::path& to, HiddenTemporary::Kind kind) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // File systems that cannot: a folder replaces nothing but an empty one, and a link nothing at all.
  if (kind == HiddenTemporary::Kind::folder) {
    if (::rename(from.c_str(), to.c_str()) == 0) return 0;
    return errno == ENOTEMPTY || errno == ENOTDIR ? EEXIST : errno;
  }
  if (::link(from.c_str(), to.c_str()) == 0) {
    ::unlink(from.c_str());
    return 0;
  }
  if (errno != EPERM && errno != ENOSYS && errno != EOPNOTSUPP) return errno;
  struct stat there {};  // without links either: what appears right now is replaced
  if (::lstat(to.c_str(), &there) == 0) return EEXIST;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

HiddenTemporary::HiddenTemporary(const fs::path& wanted, Kind kind) : wanted_(fs::absolute(wanted)), kind_(kind) {
  remove_left_behind(wanted_);
  error_ = std::make_error_code(std::errc::resource_unavailable_try_again);
  constexpr int attempts = 100;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (make(kind)) return;
  }
}

/// True where it is made or cannot be; false where another name is to be tried.
bool HiddenTemporary::make(Kind kind) {
  const fs::path path = wanted_.parent_path() / temporary_name(wanted_.filename().string());
  const bool made = kind == Kind::folder && ::mkdir(path.c_str(), 0777) == 0;
  int descriptor = -1;
  if (kind == Kind::file) {
    descriptor = ::open(path.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0666);
  } else if (made) {
    descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  }
  // Before it is locked, another process may take it for left behind.
  if (descriptor < 0) {
    const int failure = errno;
    error_.assign(failure, std::generic_category());
    return failure != EEXIST && !(made && failure == ENOENT);
  }
  if (try_lock(descriptor) == Lock::taken || !is_at(path, descriptor)) {
    ::close(descriptor);
    return false;
  }
  error_.clear();
  path_ = path;
  descriptor_ = descriptor;
  return true;
}

HiddenTemporary::HiddenTemporary(HiddenTemporary&& other) noexcept
    : wanted_(std::move(other.wanted_)),
      kind_(other.kind_),
      path_(std::exchange(other.path_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      error_(other.error_) {}

HiddenTemporary::~HiddenTemporary() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (descriptor_ >= 0) ::close(descriptor_);
}

/// Exchanges the folder for the one at the wanted place; path_ is the old one afterwards. 0 or an errno.
int HiddenTemporary::exchange() {
  if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, wanted_.c_str(), RENAME_EXCHANGE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // File systems that cannot: the old one steps aside, held so that nobody takes it for left behind.
  const int held = ::open(wanted_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (held < 0) return errno;
  try_lock(held);
  const fs::path aside = path_.string().append(stepped_aside);
  int failure = ::rename(wanted_.c_str(), aside.c_str()) == 0 ? 0 : errno;
  if (failure == 0) {
    failure = rename_without_replacing(path_, wanted_, kind_);
    if (failure == 0) {
      path_ = aside;
    } else {
      rename_without_replacing(aside, wanted_, kind_);
    }
  }
  ::close(held);
  return failure;
}

std::error_code HiddenTemporary::put_in_place(Existing existing) {
  int failure = ENOENT;
  bool replaced = false;
  if (existing == Existing::replace && kind_ == Kind::file) {
    failure = ::rename(path_.c_str(), wanted_.c_str()) == 0 ? 0 : errno;
  } else {
    if (existing == Existing::replace) failure = exchange();
    replaced = failure == 0;
    if (failure == ENOENT) failure = rename_without_replacing(path_, wanted_, kind_);
  }
  if (failure == 0 && !replaced) path_.clear();
  return {failure, std::generic_category()};
}

}  // namespace stowage
