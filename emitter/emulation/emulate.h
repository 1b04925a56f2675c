// SPDX-License-Identifier: Apache-2.0
// Builds emitted sources with the host's C compiler against the emulation runtime and runs them.
#pragma once

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "core/diagnostics.h"
#include "core/tensor.h"
#include "emitter/athread/emit.h"
#include "emitter/sources/program_run.h"

namespace stowage {

/// What every family is asked, and what this emulation alone needs.
struct EmulationOptions : RunSettings {
  std::string compiler = {};  ///< of the host; empty: $CC, cc, gcc or clang, whichever is found first
};

/// `inputs` by network input. `on_output` is called for every step in order.
Result<EmulationResult> emulate(const Program& program, const EmittedProgram& emitted, std::span<const Tensor> inputs,
                                const EmulationOptions& options, const StepObserver& on_output,
                                Diagnostics& diagnostics, const std::stop_token& stop = {});

/// The same program with at least 64 bytes that no buffer owns between and behind the LDM buffers of every kernel (and
/// an LDM that has room for them). Emitted and emulated with `sanitize`, an access just past a buffer is reported with
/// its line.
Program with_red_zones(Program program);

}  // namespace stowage
