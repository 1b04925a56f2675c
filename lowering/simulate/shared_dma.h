// SPDX-License-Identifier: Apache-2.0
// The DMA engine that all cores share. Every transfer starts up for itself; then all whose data move get an equal share
// of the engine's time, so that of n at once each moves as fast as 1/n of what its blocks reach alone. Queued ones move
// one at a time of each queue. A transfer whose core could not take its data so fast ends later, without a share of
// the engine meanwhile: a core takes in one after another, in the order in which they began to move. Transfers end in
// whole cycles, rounded up.
//
// What a transfer has been served is counted once for all: `served` is what each that moves has got since the
// beginning, in parts of a cycle. One that began to move at s and needs p ends when `served` has reached s + p. Which
// of several events of one cycle is told first changes nothing: `served` stands still meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "lowering/simulate/dma_order.h"

namespace stowage {

class SharedDma {
 public:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  explicit SharedDma(DmaOrder order) : order_(order) {}

  /// So many cores start the same transfer each: it can move data from cycle `moves` on (not before now), needs `parts`
  /// of the engine's time, in parts of a cycle, and its core `least` cycles to take it in. A queue is of cores that do
  /// the same. The transfer's number is another's after the next advance() from the one that has told its end.
  std::size_t start(std::int64_t moves, std::int64_t parts, std::int64_t least, std::int64_t cores, std::size_t queue);

  /// The cycle in which something begins to move or ends; never, if nothing is under way.
  [[nodiscard]] std::int64_t next_event() const;
  /// Goes on to a cycle, at most to the next event's. Returns what has ended there; valid until the next call.
  const std::vector<std::size_t>& advance(std::int64_t cycle);
  [[nodiscard]] std::int64_t now() const { return now_; }

  /// The cycle in which the data of one that has ended began to move.
  [[nodiscard]] std::int64_t moved_from(std::size_t transfer) const { return transfers_[transfer].moves; }
  /// Cycles in which data moved.
  [[nodiscard]] std::int64_t busy_cycles() const { return busy_; }

  /// How far a transfer is, as numbers that are equal where what is to come is: whether it is to move, moves, or has
  /// been served and is not at its end yet; `left` are cycles until it moves, then parts of a cycle that it needs
  /// still.
  struct Progress {
    std::int64_t phase = 0;
    std::int64_t left = 0;
    std::int64_t taken_in = 0;  ///< cycles until its core can have taken it in; which tells when it can take the next
  };
  [[nodiscard]] Progress progress_of(std::size_t transfer) const;
  /// As if so many cycles had passed in which all came back to where it is, with data moving in so many of them.
  void skip(std::int64_t cycles, std::int64_t busy);

 private:
  struct Transfer {
    std::int64_t moves = 0;  ///< cycle from which on it can; when it does, that in which it began
    std::int64_t parts = 0;
    std::int64_t ends = 0;   ///< what `served` will be then
    std::int64_t taken = 0;  ///< cycle in which its core begins to take it in, once it moves
    std::int64_t least = 0;  ///< cycles from then to its end at least
    std::int64_t cores = 0;
    std::size_t queue = 0;
    enum class Phase : std::uint8_t { waits, moves, served } phase = Phase::waits;
  };
  /// When it is due, and which transfer; heaps with the earliest first, of several that which was pushed first.
  struct Due {
    std::int64_t at = 0;
    std::size_t transfer = 0;
    std::int64_t pushed = 0;
  };
  static bool later(const Due& a, const Due& b) { return a.at != b.at ? a.at > b.at : a.pushed > b.pushed; }
  void push(std::vector<Due>& heap, std::int64_t at, std::size_t transfer);
  static std::size_t pop(std::vector<Due>& heap);
  void move(std::size_t number);
  void end(std::size_t number);

  std::int64_t now_ = 0;
  std::int64_t served_ = 0;  ///< parts of a cycle
  std::int64_t moving_ = 0;  ///< transfers, one of each core
  std::int64_t busy_ = 0;
  std::vector<Transfer> transfers_;
  std::vector<std::size_t> free_;
  std::vector<Due> starting_;  ///< by cycle
  std::vector<Due> ending_;    ///< by what `served` will be
  std::vector<Due> draining_;  ///< served before their cores can have them, by cycle
  std::vector<std::size_t> ended_;
  DmaOrder order_;
  std::vector<std::vector<std::size_t>> queues_;  ///< if queued: what moves, then what is to
  std::vector<std::int64_t> takes_from_;  ///< by queue: cycle from which on its cores can take in what comes next
  std::int64_t pushed_ = 0;
};

}  // namespace stowage
