// SPDX-License-Identifier: Apache-2.0
// As many diagnostics as a person reads, and how many more there are.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/diagnostics.h"

namespace stowage {

inline constexpr std::size_t max_shown_diagnostics = 100;

/// The first errors and the first warnings, each followed by one that counts the rest ("more-diagnostics"), and of each
/// the first notes. All that prints diagnostics prints these.
std::vector<Diagnostic> shown_diagnostics(std::span<const Diagnostic> all);

}  // namespace stowage
