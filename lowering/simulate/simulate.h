// SPDX-License-Identifier: Apache-2.0
// A nest in time, event by event: when each core computes, starts transfers and waits for them, and how the DMA engine
// shares its time among the transfers under way (docs/simulation.md). It takes the rates of the cost table, and says
// what comes of them where the closed form (lowering/time/time_model.h) has to guess: which transfers run beside which
// computations.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <variant>
#include <vector>

#include "core/decision.h"
#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/simulate/dma_order.h"
#include "lowering/simulate/request_sequences.h"
#include "lowering/simulate/timeline.h"

namespace stowage {

/// Where the cycles of one core go. With the launch they sum up to the nest's.
struct CoreTimes {
  std::int64_t computing = 0;  ///< fills included
  std::int64_t issuing = 0;    ///< calls that start transfers
  std::int64_t waiting_for_gets = 0;
  std::int64_t waiting_for_puts = 0;
  std::int64_t waiting_at_barriers = 0;
  std::int64_t idle = 0;  ///< after its end

  [[nodiscard]] std::int64_t waiting_for_dma() const { return waiting_for_gets + waiting_for_puts; }
  friend bool operator==(const CoreTimes&, const CoreTimes&) = default;
};

/// Over all cores.
struct StatementTimes {
  StatementId statement;        ///< of a transfer, a computation or a fill
  std::int64_t executions = 0;  ///< that did something
  std::int64_t cycles = 0;      ///< of computations; of transfers from their start to their end
  std::int64_t waited = 0;      ///< cycles that cores waited for it: a wait counts to the transfer that ends it
  friend bool operator==(const StatementTimes&, const StatementTimes&) = default;
};

struct DmaTimes {
  std::int64_t busy_cycles = 0;  ///< in which data moved
  std::int64_t transfers = 0;
  std::int64_t operations = 0;
  std::int64_t bytes = 0;
  friend bool operator==(const DmaTimes&, const DmaTimes&) = default;
};

struct Simulation {
  std::int64_t cycles = 0;  ///< from the launch until the last core and the last transfer have ended
  std::int64_t launch_cycles = 0;
  std::vector<CoreTimes> cores;            ///< by number, those that the nest uses
  std::vector<std::int64_t> issuing_puts;  ///< of each core, the part of CoreTimes::issuing that starts puts
  DmaTimes dma;
  std::vector<StatementTimes> statements;  ///< in program order
  std::int64_t events = 0;                 ///< requests of all cores: computations, transfers, waits
  std::int64_t steps = 0;                  ///< taken to simulate them

  /// The core that ends last, the first of several; its cycles are what the nest's consist of.
  [[nodiscard]] std::size_t last_core() const;
  /// Cycles that this core, and after it the launch, waits for transfers: what DMA adds to the time of computation.
  [[nodiscard]] std::int64_t exposed_dma_cycles() const;
};

/// How events are written down.
enum class Recording : std::uint8_t {
  every_event,  ///< those of all cores; then nothing is extrapolated
  with_repeats  ///< one period of what repeats, with the slots that computations touch
};

struct SimulationOptions {
  /// Whether cores that do the same are simulated as one, and loops that have come to a steady state are carried on by
  /// calculation. The result is the same without, but takes as long as it has events.
  bool extrapolate = true;
  /// Draws the order in which events of one cycle are taken; nothing may depend on it.
  std::optional<std::uint64_t> order_seed;
  DmaOrder dma_order = DmaOrder::shared;
  /// Where what happens is written, if anywhere.
  Timeline* timeline = nullptr;
  Recording recording = Recording::every_event;
};

/// Refused where a statement has no rate ("no-rate"), where the time is more than any plan may take
/// ("too-many-cycles"), and where it was stopped ("stopped").
using Simulated = std::variant<Simulation, Decision>;

/// Of a sound nest (verify), which has an end.
Simulated simulate(const LoopNest& nest, const Target& target, const SimulationOptions& options = {},
                   const std::stop_token& stop = {});

/// The same of requests that somebody has written for reasons of his own, with Sharing::equal.
Simulated simulate(const RequestSequences& requests, std::int64_t launch_cycles, const std::stop_token& stop = {});

}  // namespace stowage
