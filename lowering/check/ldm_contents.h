// SPDX-License-Identifier: Apache-2.0
// What one core's LDM holds at a moment of its way through a nest, slot by slot: elements that are there, and transfers
// under way.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowering/check/boxes.h"
#include "lowering/check/check_nest.h"
#include "lowering/check/sum_terms.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// When a statement was executed: its id, and the values of all variables then.
struct Moment {
  StatementId statement;
  std::vector<std::int64_t> values;
  friend auto operator<=>(const Moment&, const Moment&) = default;
};

Execution execution_of(const LoopNest& nest, const Moment& moment, int core);

struct SlotOfBuffer {
  BufferId buffer;
  std::int64_t slot = 0;
  friend auto operator<=>(const SlotOfBuffer&, const SlotOfBuffer&) = default;
};

/// Whether two slots lie at some of the same bytes; of slots that there are.
bool share_bytes(const LoopNest& nest, const SlotOfBuffer& a, const SlotOfBuffer& b);
/// Whether element i of the one lies where element i of the other does.
bool match(const LoopNest& nest, const SlotOfBuffer& a, const SlotOfBuffer& b);

/// Elements of a slot, in its own coordinates.
struct Piece {
  ElementBox box;
  std::optional<std::vector<std::int64_t>> origin;  ///< of the slot in the tensor; none: padding, anywhere
  Moment written;
  std::optional<SumTerms> sum = std::nullopt;  ///< that is under way; none: a value that is whole
};

struct TransferUnderWay {
  SlotOfBuffer cell;
  ElementBox box;  ///< of the slot; empty: nothing is moved
  std::vector<std::int64_t> origin;
  bool fills = true;  ///< false: sends
  bool of_team = false;
  Moment started;
};

class LdmContents {
 public:
  explicit LdmContents(const LoopNest& nest);

  /// A transfer under way that touches elements of the box, in this slot or in what lies at the same bytes: of those
  /// that fill only, if something is read.
  [[nodiscard]] const TransferUnderWay* in_the_way(const SlotOfBuffer& cell, const ElementBox& box, bool reads) const;

  struct Unfit {
    ElementBox box;                ///< elements that are not there
    const Piece* stale = nullptr;  ///< of another box of the tensor
  };
  /// What keeps a box from being read as elements of the tensor, where the slot begins at `origin`.
  [[nodiscard]] std::optional<Unfit> unfit(const SlotOfBuffer& cell, const ElementBox& box,
                                           const std::vector<std::int64_t>& origin) const;

  /// The first part of a box that is no whole result (what_lacks), if there is one.
  [[nodiscard]] const Piece* unsummed(const SlotOfBuffer& cell, const ElementBox& box, bool finishing) const;

  /// Elements get there; what lay at the same bytes is lost.
  void write(const SlotOfBuffer& cell, Piece piece);
  /// A computation adds terms to what is there, for a box of its points.
  void add(const SlotOfBuffer& cell, const Piece& piece, const Compute& compute, const ElementBox& points);
  void start(TransferUnderWay flight) { flights_.push_back(std::move(flight)); }
  /// Ends those under way for which `is_awaited` holds: what they fill is there. How many that were.
  template <class IsAwaited>
  std::vector<TransferUnderWay> end(const IsAwaited& is_awaited) {
    std::vector<TransferUnderWay> ended, rest;
    for (TransferUnderWay& flight : flights_) (is_awaited(flight) ? ended : rest).push_back(std::move(flight));
    flights_ = std::move(rest);
    for (const TransferUnderWay& flight : ended) {
      if (flight.fills && !flight.box.is_empty()) write(flight.cell, {flight.box, flight.origin, flight.started});
    }
    return ended;
  }
  /// Those of a slot, and what the same broadcasts do to other slots.
  std::vector<TransferUnderWay> end_in(const SlotOfBuffer& cell);
  /// Those of the statement that has most of them under way; there are some.
  std::vector<TransferUnderWay> end_most_started();
  [[nodiscard]] const std::vector<TransferUnderWay>& flights() const { return flights_; }

 private:
  [[nodiscard]] std::vector<Piece>& pieces(const SlotOfBuffer& cell) {
    return pieces_[cell.buffer][static_cast<std::size_t>(cell.slot)];
  }

  const LoopNest& nest_;
  IdVector<BufferId, std::vector<std::vector<Piece>>> pieces_;  ///< by slot
  IdVector<BufferId, std::vector<BufferId>> beside_;            ///< buffers at some of the same bytes
  std::vector<TransferUnderWay> flights_;                       ///< in the order in which they were started
};

}  // namespace stowage
