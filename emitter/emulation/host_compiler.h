// SPDX-License-Identifier: Apache-2.0
// The host's C compiler, with which emitted sources are built for emulation.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "core/diagnostics.h"

namespace stowage {

struct HostCompiler {
  std::vector<std::string> command;  ///< program and leading arguments ("ccache", "gcc")
  std::string identity;              ///< path, size and date of the program: what cached objects are valid for
};

/// `wanted` if it is not empty; else $CC, cc, gcc or clang, whichever is found first. Reports "no-c-compiler".
Result<HostCompiler> find_host_compiler(const std::string& wanted, Diagnostics& diagnostics);

/// One call of the compiler: a source to an object, or objects to a program.
struct CompilerCall {
  std::vector<std::string> arguments;
  std::string what;  ///< for messages: "conv1.s.c", "the program"
};

/// Runs the calls in `folder`, where the compiler's own temporary files go too, as many at once as the host has cores.
/// Errors are reported as "c-compilation-failed", warnings as "c-compiler-warning", each with what the compiler said.
/// False where a call failed or a stop was requested.
bool run_compiler(const HostCompiler& compiler, const std::vector<CompilerCall>& calls,
                  const std::filesystem::path& folder, Diagnostics& diagnostics, const std::stop_token& stop);

}  // namespace stowage
