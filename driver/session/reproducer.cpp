// SPDX-License-Identifier: Apache-2.0
// What says by which tool, from which files and with which costs at hand a compilation was made.
#include <cstdlib>

#include <fmt/format.h>
#include <xxhash.h>

#include "driver/session/session.h"

namespace stowage {

std::string default_cost_cache() {
  if (const char* own = std::getenv("STOWAGE_CACHE_DIR")) return own;
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg != nullptr && xdg[0] == '/') return std::string(xdg) + "/stowage";  // relative ones are to be ignored
  const char* home = std::getenv("HOME");
  return home != nullptr && home[0] == '/' ? std::string(home) + "/.cache/stowage" : std::string();
}

std::string hash_of(std::span<const std::byte> bytes) {
  return fmt::format("xxh64:{:016x}", XXH64(bytes.data(), bytes.size(), 0));
}

/// Of the text with the names that keys had first: files of learned evaluators say the hash of the target that they
/// hold for, which is the same target whatever its keys are called since.
std::string hash_of_target(const Target& target) {
  std::string text = to_toml(target);
  constexpr std::string_view today = " block_seconds = ", before = " row_seconds = ";
  if (const std::size_t at = text.find(today); target.dma.lines && at != std::string::npos)
    text.replace(at, today.size(), before);
  return hash_of(std::as_bytes(std::span(text)));
}

std::string_view stowage_version() { return STOWAGE_VERSION; }

std::string reproducer_line(const Compilation& compilation) {
  return fmt::format("stowage {} | {} | model {} {} | target {} {}", stowage_version(), compilation.command_line,
                     compilation.model.path, compilation.model.hash, compilation.program.target.name,
                     hash_of_target(compilation.program.target));
}

}  // namespace stowage
