// SPDX-License-Identifier: Apache-2.0
// The emulation runtime (emitter/emulation/*.c, carried inside this library), built once for each compiler and kept in
// a cache of the user's, so that a small program builds in a tenth of a second.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "core/diagnostics.h"
#include "emitter/emulation/host_compiler.h"

namespace stowage {

struct EmulationRuntime {
  std::filesystem::path headers;               ///< folder with athread.h, slave.h, dma.h, simd.h
  std::vector<std::filesystem::path> objects;  ///< to link with the program
};

/// Finds or builds the runtime. Several processes may do so at once: a build appears in the cache whole or not at all,
/// and one with a damaged or missing file is made anew.
/// The cache is $XDG_CACHE_HOME/stowage, ~/.cache/stowage, or a folder of the user's own under the temporary folder.
Result<EmulationRuntime> provide_emulation_runtime(const HostCompiler& compiler,
                                                   const std::vector<std::string>& further_flags,
                                                   Diagnostics& diagnostics, const std::stop_token& stop);

/// Writes the headers and sources of the runtime into a folder, for a person who builds emitted sources by hand.
void write_emulation_runtime(const std::filesystem::path& folder);

}  // namespace stowage
