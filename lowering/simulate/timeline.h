// SPDX-License-Identifier: Apache-2.0
// What a simulation saw, event by event, for pictures and traces. Cycles count from the launch.
//
// With repeats (Recording::with_repeats) cores that do the same stand there once, and of a steady state one period and
// how often it happened: what is written down is bounded by what was simulated step by step, and is as exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lowering/ir/loop_nest.h"

namespace stowage {

struct Timeline {
  /// What a core does for a while. One after another, a core's slices do not overlap.
  struct Slice {
    enum class Kind : std::uint8_t { compute, issue, wait_for_get, wait_for_put, wait_at_barrier };
    Kind kind = Kind::compute;
    int core = 0;                     ///< the first of those that do the same
    StatementId statement;            ///< of a wait that of the transfer that ends it
    std::optional<std::size_t> uses;  ///< of a computation: index into Timeline::uses
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  struct Transfer {
    int core = 0;
    StatementId statement;
    std::int64_t begun = 0;  ///< when the core starts it
    std::int64_t moves = 0;  ///< when its data begin to move
    std::int64_t ended = 0;
    std::int64_t bytes = 0;
    std::int64_t engine_parts = 0;    ///< of the DMA engine, which it shares with all that move meanwhile
    std::optional<std::size_t> wait;  ///< in which its core waits for it, index into slices; none if it need not wait
    SlotId slot;
    bool is_put = false;
  };
  /// What is recorded in these ranges happened so many times more, each of them `period` cycles after the one before;
  /// what is recorded behind them comes after all of that. Ranges lie in each other or apart; the inner ones of what
  /// happens again happen again in it.
  struct Repeat {
    std::size_t first_slice = 0;
    std::size_t end_slice = 0;
    std::size_t first_transfer = 0;
    std::size_t end_transfer = 0;
    std::int64_t period = 0;
    std::int64_t times = 0;
  };

  std::vector<Slice> slices;
  std::vector<Transfer> transfers;        ///< in the order of their ends
  std::vector<Repeat> repeats;            ///< inner ones before those around them
  std::vector<std::vector<int>> alike;    ///< numbers of cores that do the same; every core stands in one list
  std::vector<std::vector<SlotId>> uses;  ///< slots that a computation touches
};

}  // namespace stowage
