// SPDX-License-Identifier: Apache-2.0
// Locks on open files and folders that keep other processes, and other objects of this one, off (flock). They end with
// the process, however that ends.
#pragma once

#include <chrono>
#include <filesystem>

namespace stowage {

enum class Lock {
  held,
  taken,      ///< by another open file
  impossible  ///< the file system has no locks
};

/// Locks an open file or folder until it is closed. Never waits.
Lock try_lock(int descriptor);

/// True if what is open is what stands at `path`, and not something that was since removed or replaced.
bool is_at(const std::filesystem::path& path, int descriptor);

/// Holds a lock on a file as long as it lives, waiting for others to give it back, and makes the file where there is
/// none. The file may be replaced by its holder: who comes next locks the one that stands there then. Where the file
/// cannot be locked, or others hold it for longer than `patience`, it is not held.
class FileLock {
 public:
  explicit FileLock(const std::filesystem::path& file, std::chrono::milliseconds patience);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  [[nodiscard]] bool is_held() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

}  // namespace stowage
