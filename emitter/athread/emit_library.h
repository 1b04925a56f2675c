// SPDX-License-Identifier: Apache-2.0
// Steps that a library computes as C: for each a function with one call (lowering/program/library_plan.h).
#pragma once

#include "emitter/athread/c_writer.h"
#include "emitter/athread/emit_management.h"
#include "lowering/program/library_plan.h"

namespace stowage {

/// The library's header; in emulation a stand-in of ours, which computes plainly.
void write_library_header(CWriter& out, const Library& library);

/// The function, with its comment; LAYER_DONE is where the emulation takes what the library has written.
void write_library_layer(CWriter& out, const ManagedLayer& layer, const LibraryPlan& plan);

}  // namespace stowage
