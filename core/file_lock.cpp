// SPDX-License-Identifier: Apache-2.0
#include "core/file_lock.h"

#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stowage {

namespace fs = std::filesystem;

Lock try_lock(int descriptor) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return Lock::held;
  return errno == EWOULDBLOCK ? Lock::taken : Lock::impossible;
}

bool is_at(const fs::path& path, int descriptor) {
  struct stat open {};
  struct stat there {};
  return ::fstat(descriptor, &open) == 0 && ::lstat(path.c_str(), &there) == 0 && open.st_ino == there.st_ino &&
         open.st_dev == there.st_dev;
}

FileLock::FileLock(const fs::path& file, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds pause(2);
  const auto end = std::chrono::steady_clock::now() + patience;
  do {
    // Neither through a link to somebody's file nor into a pipe that nobody writes to.
    // On NFS only what may be written can be locked for oneself.
    constexpr int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | flags, 0666);
    if (descriptor < 0 && (errno == EACCES || errno == EROFS)) descriptor = ::open(file.c_str(), O_RDONLY | flags);
    if (descriptor < 0) return;
    const Lock lock = try_lock(descriptor);
    if (lock == Lock::held && is_at(file, descriptor)) {
      descriptor_ = descriptor;
      return;
    }
    ::close(descriptor);
    if (lock == Lock::impossible) return;
    if (lock == Lock::taken) std::this_thread::sleep_for(pause);
  } while (std::chrono::steady_clock::now() < end);
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace stowage
