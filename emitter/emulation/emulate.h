// SPDX-License-Identifier: Apache-2.0
// Builds emitted sources with the host's C compiler against the emulation runtime and runs them.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "core/diagnostics.h"
#include "core/tensor.h"
#include "emitter/athread/emit.h"

namespace stowage {

constexpr std::chrono::milliseconds usual_emulation_time = std::chrono::hours(1);

enum class EmulationLevel : std::uint8_t { count, check, strict };

struct EmulationOptions {
  EmulationLevel level = EmulationLevel::check;
  bool sanitize = false;              ///< address sanitizer, buffers in flight poisoned
  std::string compiler;               ///< empty: $CC, cc, gcc or clang, whichever is found first
  int workers = 0;                    ///< host threads; 0: one a host core
  std::uint64_t seed = 0;             ///< order of cores in strict
  bool changed_sources = false;       ///< by hand, since they were emitted: what is wrong with them is no fault of ours
  bool keep_outputs_of_steps = true;  ///< hand every step's output to on_output before its memory is reused
  std::chrono::milliseconds time_limit = usual_emulation_time;  ///< of the program's run, after which it is ended
};

struct StatementCount {
  int step = 0;
  int statement = 0;
  std::int64_t transfers = 0;
  std::int64_t operations = 0;
  std::int64_t bytes = 0;
};

struct EmulationResult {
  std::vector<Tensor> outputs;               ///< of the network, in order
  std::vector<StatementCount> counts;        ///< by step and statement
  std::vector<std::int64_t> ldm_peak_bytes;  ///< by step: of buffers, in units of the LDM's alignment; 0 for a view
  std::int64_t parameter_fetches = 0;        ///< DMA operations that fetched a kernel's parameter struct
  double build_seconds = 0;
  double run_seconds = 0;  ///< of the network's layers, without loading parameters
};

/// Is told the tensors that a step wrote (stored_by(group)).
using StepObserver = std::function<void(int step, std::span<const Tensor> stored)>;

/// `inputs` by network input. `on_output` is called for every step in order.
Result<EmulationResult> emulate(const Program& program, const EmittedProgram& emitted, std::span<const Tensor> inputs,
                                const EmulationOptions& options, const StepObserver& on_output,
                                Diagnostics& diagnostics, const std::stop_token& stop = {});

/// The same program with at least 64 bytes that no buffer owns between and behind the LDM buffers of every kernel (and
/// an LDM that has room for them). Emitted and emulated with `sanitize`, an access just past a buffer is reported with
/// its line.
Program with_red_zones(Program program);

}  // namespace stowage
