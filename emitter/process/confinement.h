// SPDX-License-Identifier: Apache-2.0
// What an emulated program may not do: the kernel's Landlock keeps it from writing outside its folder, a seccomp filter
// from the network, other processes and what Landlock does not know (modes, owners, times), a resource limit from
// taking all memory. SECURITY.md says what is promised.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace stowage {

class Confinement {
 public:
  /// Files may be made, changed and removed in `folder` only (no links, no pipes). `memory_bytes` bounds the address
  /// space and each file. With the sanitizer there is no such bound (it reserves terabytes), and it may start programs,
  /// as confined as it is, since clang's asks one for the line of an address.
  Confinement(const std::filesystem::path& folder, std::int64_t memory_bytes, bool sanitizer);
  ~Confinement();
  Confinement(const Confinement&) = delete;
  Confinement& operator=(const Confinement&) = delete;

  /// What this kernel does not keep the program from, each with the reason; empty where it does all.
  [[nodiscard]] std::vector<std::string> missing() const;

  /// Confines the calling process for good; the only program that it can execute afterwards is `program`, at this
  /// address. To be called between fork and exec: it uses nothing but system calls. False (and errno) where the
  /// kernel refused what it had promised.
  [[nodiscard]] bool enter(const char* program, pid_t process) const noexcept;

 private:
  int rules_ = -1;  ///< of Landlock; -1 where the kernel has none
  bool filters_ = false;
  std::int64_t memory_bytes_ = 0;
  bool sanitizer_ = false;
};

}  // namespace stowage
