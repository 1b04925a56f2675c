// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share. Every reader promises the same: a value, or at least one error; never a crash, a hang
// or an InternalError (which libFuzzer sees as an uncaught exception).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

#include "core/diagnostics.h"

namespace stowage::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A file in memory with a path, for readers that take one.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_(memfd_create("fuzz", 0)) {
    if (write(descriptor_, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(descriptor_); }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

/// Stops the fuzzer where a reader neither returned a value nor said why; also formats what it said.
template <class T>
void check_promise(const Result<T>& result, const Diagnostics& diagnostics) {
  static_cast<void>(format_diagnostics(diagnostics));
  if (static_cast<bool>(result) == diagnostics.has_errors()) std::abort();
}

}  // namespace stowage::fuzz
