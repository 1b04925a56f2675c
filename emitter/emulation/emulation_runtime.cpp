// SPDX-License-Identifier: Apache-2.0
#include "emitter/emulation/emulation_runtime.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "core/file_writer.h"
#include "core/read_whole.h"
#include "core/temporary_folder.h"
#include "emulation_text.h"

namespace stowage {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 12> header_names = {"athread.h",      "dma.h",           "simd.h",
                                                           "side_by_side.h", "slave.h",         "swemu.h",
                                                           "swemu_config.h", "swemu_library.h", "swemu_registers.h",
                                                           "swemu_report.h", "swemu_state.h",   "swemu_wait.h"};
constexpr std::array<std::string_view, 9> source_names = {"swemu_config.c",    "swemu_dma.c",       "swemu_fiber.c",
                                                          "swemu_broadcast.c", "swemu_registers.c", "swemu_races.c",
                                                          "swemu_report.c",    "swemu_run.c",       "swemu_wait.c"};

constexpr std::uint64_t first_hash = 0xcbf29ce484222325U;

/// FNV-1a, 64 bits. It names a cache entry and tells damage; nobody gains by making two of their own collide.
std::uint64_t hash_of(std::string_view text, std::uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash * 0x100000001b3U;
}

void rewrite_text(const fs::path& path, std::string_view text) { write_in_place(path, std::as_bytes(std::span(text))); }

/// A folder that only this user can write: objects in it are linked into what we run.
bool make_private_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  mkdir(path.c_str(), S_IRWXU);
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 && access(path.c_str(), W_OK) == 0;
}

fs::path cache_folder() {
  std::vector<fs::path> candidates;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    candidates.push_back(fs::path(cache) / "stowage");
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    candidates.push_back(fs::path(home) / ".cache" / "stowage");
  candidates.push_back(fs::temp_directory_path() / fmt::format("stowage-cache-{}", geteuid()));
  for (const fs::path& candidate : candidates)
    if (make_private_folder(candidate)) return candidate;
  return {};
}

EmulationRuntime runtime_in(const fs::path& folder) {
  EmulationRuntime runtime;
  runtime.headers = folder;
  for (const std::string_view source : source_names)
    runtime.objects.push_back(folder / fs::path(source).replace_extension(".o"));
  return runtime;
}

constexpr std::string_view manifest_name = "hashes";

/// A line for each object: what it was when it was built.
std::string manifest_of(const fs::path& folder) {
  std::string text;
  for (const fs::path& object : runtime_in(folder).objects)
    text += fmt::format("{:016x} {}\n", hash_of(read_whole(object), first_hash), object.filename().string());
  return text;
}

/// Every file that later builds use is there and as it was; a disk that was full, or a hand, may have changed it.
bool is_whole(const fs::path& folder) {
  for (const std::string_view name : header_names)
    if (read_whole(folder / name) != emulation_text(name)) return false;
  return read_whole(folder / manifest_name) == manifest_of(folder);
}

/// Builds beside `wanted` and renames: another process that was faster wins, and is as good.
bool build(const HostCompiler& compiler, const std::vector<std::string>& flags, const fs::path& wanted,
           Diagnostics& diagnostics, const std::stop_token& stop) {
  const TemporaryFolder temporary(wanted.parent_path());
  const fs::path folder = temporary.path() / "built";
  fs::create_directory(folder);
  write_emulation_runtime(folder);
  std::vector<CompilerCall> calls;
  for (const std::string_view source : source_names) {
    CompilerCall call;
    call.what = source;
    call.arguments = flags;
    for (const std::string& argument :
         {std::string("-c"), std::string(source), std::string("-o"), fs::path(source).replace_extension(".o").string()})
      call.arguments.push_back(argument);
    calls.push_back(std::move(call));
  }
  if (!run_compiler(compiler, calls, folder, diagnostics, stop)) return false;
  rewrite_text(folder / manifest_name, manifest_of(folder));
  std::error_code error;
  fs::rename(folder, wanted, error);
  if (!error || is_whole(wanted)) return true;
  fs::rename(wanted, temporary.path() / "damaged");
  fs::rename(folder, wanted);
  return true;
}

}  // namespace

void write_emulation_runtime(const fs::path& folder) {
  for (const std::string_view name : header_names) rewrite_text(folder / name, emulation_text(name));
  for (const std::string_view name : source_names) rewrite_text(folder / name, emulation_text(name));
}

Result<EmulationRuntime> provide_emulation_runtime(const HostCompiler& compiler,
                                                   const std::vector<std::string>& further_flags,
                                                   Diagnostics& diagnostics, const std::stop_token& stop) {
  std::vector<std::string> flags = {"-std=gnu99", "-O3", "-g1", "-fno-strict-aliasing"};
  flags.insert(flags.end(), further_flags.begin(), further_flags.end());
  std::uint64_t key = hash_of(compiler.identity, first_hash);
  for (const std::string& flag : flags) key = hash_of(flag, key);
  for (const std::string_view name : header_names) key = hash_of(emulation_text(name), key);
  for (const std::string_view name : source_names) key = hash_of(emulation_text(name), key);
  const fs::path cache = cache_folder();
  if (cache.empty()) {
    diagnostics.error("no-cache-folder", {}, "no folder of the user's own can be written for the emulation runtime",
                      "set XDG_CACHE_HOME to one");
    return Failed{};
  }
  const fs::path folder = cache / fmt::format("emulation-{:016x}", key);
  if (!is_whole(folder) && !build(compiler, flags, folder, diagnostics, stop)) return Failed{};
  return runtime_in(folder);
}

}  // namespace stowage
