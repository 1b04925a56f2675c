// SPDX-License-Identifier: Apache-2.0
// How the cores begin with a kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stowage {

/// By a spawn of its own, after which the management core waits for its end, as published; or behind a barrier of all
/// cores in the spawn of the kernel before it, which takes less by far.
enum class LaunchedBy : std::uint8_t { spawn, barrier };

/// "spawn", "barrier".
constexpr std::string_view name_of(LaunchedBy launch) { return launch == LaunchedBy::spawn ? "spawn" : "barrier"; }

constexpr std::optional<LaunchedBy> launch_named(std::string_view name) {
  for (const LaunchedBy launch : {LaunchedBy::spawn, LaunchedBy::barrier}) {
    if (name == name_of(launch)) return launch;
  }
  return std::nullopt;
}

}  // namespace stowage
