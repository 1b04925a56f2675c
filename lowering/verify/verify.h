// SPDX-License-Identifier: Apache-2.0
// Whether a nest keeps what the IR promises.
#pragma once

#include <optional>
#include <string>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// Broken promises of a nest (bounds, LDM size, races between cores, waits), or nothing.
std::optional<std::string> verify(const LoopNest& nest, const Target& target);

}  // namespace stowage
