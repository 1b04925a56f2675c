// SPDX-License-Identifier: Apache-2.0
// A disk that is full, for this process: files may not grow beyond some bytes while it lives.
#pragma once

#include <csignal>

#include <sys/resource.h>
#include <sys/stat.h>

namespace stowage::test {

class DiskLimit {
 public:
  explicit DiskLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);  // writing fails with EFBIG then
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~DiskLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, old_handler_);
  }
  DiskLimit(const DiskLimit&) = delete;
  DiskLimit& operator=(const DiskLimit&) = delete;

 private:
  rlimit before_{};
  void (*old_handler_)(int) = nullptr;
};

inline bool is_character_device(const char* path) {
  struct stat status {};
  return ::stat(path, &status) == 0 && S_ISCHR(status.st_mode);
}

}  // namespace stowage::test
