// SPDX-License-Identifier: Apache-2.0
// A program's run on this host: how it shall run, and what comes of it, whichever family's code it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/id_vector.h"
#include "core/ids.h"
#include "core/tensor.h"
#include "lowering/time/counts.h"

namespace stowage {

constexpr std::chrono::milliseconds usual_emulation_time = std::chrono::hours(1);

/// How closely a run is watched: transfers are counted; what the machine would punish is refused; cores run in other
/// orders besides.
enum class EmulationLevel : std::uint8_t { count, check, strict };

/// What a person may ask of every family; what means nothing to one is left aside.
struct RunSettings {
  EmulationLevel level = EmulationLevel::check;
  bool sanitize = false;              ///< look for accesses outside of buffers and to those in flight
  int workers = 0;                    ///< host threads; 0: one a host core
  std::uint64_t seed = 0;             ///< order of cores in strict
  bool changed_sources = false;       ///< by hand, since they were emitted: what is wrong with them is no fault of ours
  bool keep_outputs_of_steps = true;  ///< hand every step's output to the observer before its memory is reused
  std::chrono::milliseconds time_limit = usual_emulation_time;  ///< of the program's run, after which it is ended
};

struct StatementCount {
  StepId step;
  StatementId statement;
  std::int64_t transfers = 0;
  std::int64_t operations = 0;
  std::int64_t bytes = 0;
};

/// Of the core that waited most often for others of its team at a statement.
struct StatementMeetings {
  StepId step;
  std::optional<StatementId> statement;  ///< none: in lines that changed sources have besides
  TeamMeetings meetings;
};

struct EmulationResult {
  std::vector<Tensor> outputs;              ///< of the network, in order
  std::vector<StatementCount> counts;       ///< by step and statement
  std::vector<StatementMeetings> meetings;  ///< by step and statement; those that there were
  IdVector<StepId, std::int64_t>
      ldm_peak_bytes;                  ///< by step: of buffers, in units of the LDM's alignment; 0 for a view
  std::int64_t parameter_fetches = 0;  ///< DMA operations that fetched a kernel's parameter struct
  double build_seconds = 0;
  double run_seconds = 0;  ///< of the network's layers, without loading parameters
};

/// Is told the tensors that a step wrote (stored_by(group)).
using StepObserver = std::function<void(StepId step, std::span<const Tensor> stored)>;

}  // namespace stowage
