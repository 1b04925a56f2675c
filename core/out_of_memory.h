// SPDX-License-Identifier: Apache-2.0
// Memory that runs out is no fault of ours: the input was too large for this machine.
#pragma once

#include <exception>

#include "core/diagnostics.h"

namespace stowage {

/// True if an exception means that memory ran out, then it is reported: std::bad_alloc; std::length_error, of a size
/// that no container has; std::system_error of a thread for whose stack there is no room.
bool report_out_of_memory(const std::exception& fault, SourceLocation location, Diagnostics& diagnostics);

}  // namespace stowage
