// SPDX-License-Identifier: Apache-2.0
// A folder that shows lowering at work: the nest of every fused operator after build and after each pass that changed
// it, in files numbered as `stowage passes` numbers them. Each is one that `stowage pass` reads.
#pragma once

#include <filesystem>
#include <stop_token>

#include "core/diagnostics.h"
#include "lowering/program/program.h"

namespace stowage {

/// Writes the folder, whole or not at all; `force` replaces one as may_write_folder allows. False after a reported
/// error or a stop.
bool write_pass_dump(const Program& program, const std::filesystem::path& folder, bool force, Diagnostics& diagnostics,
                     const std::stop_token& stop = {});

}  // namespace stowage
