// SPDX-License-Identifier: Apache-2.0
// The DMA engine as one core sees it that is like all others: each of its transfers stands for those that other cores
// start at the same time. All whose data move have equal shares of the engine, and the core takes in one after another,
// as in the simulation (lowering/simulate/shared_dma.h); cycles are no whole numbers here.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/ids.h"

namespace stowage {

/// A transfer of the core, and with it those of as many others as its statement is executed by at once.
struct MeanTransfer {
  CostId row;                                     ///< of what is waited for
  SlotId slot;                                    ///< that it moves into or out of
  double cores = 1;                               ///< in the mean over its statement's executions, so no whole number
  double parts = 0;                               ///< cycles of the engine that each of them needs still
  double moves = 0;                               ///< cycle from which on its data can move
  double least = 0;                               ///< cycles in which its core can take it in
  std::optional<double> taken_in = std::nullopt;  ///< cycle in which the core can have it; none before its data move
};

/// Of a row, or of a slot.
struct AwaitedTransfers {
  std::optional<CostId> row = std::nullopt;
  std::optional<SlotId> slot = std::nullopt;
  [[nodiscard]] bool has(const MeanTransfer& t) const { return (!row || t.row == *row) && (!slot || t.slot == *slot); }
};

class MeanEngine {
 public:
  void start(const MeanTransfer& transfer) { under_way_.push_back(transfer); }
  void advance(double cycle);
  /// Goes on until none of a row or a slot is under way, if there is one now. The row of the one that ended last;
  /// nothing where nothing was waited for.
  std::optional<CostId> finish(const AwaitedTransfers& awaited);
  [[nodiscard]] double now() const { return now_; }
  [[nodiscard]] const std::vector<MeanTransfer>& under_way() const { return under_way_; }
  /// As if so many cycles had passed in which all came back to where it is.
  void skip(double cycles);

 private:
  /// To the next cycle in which something begins to move, or ends, but not beyond `limit`.
  void step(double limit);
  [[nodiscard]] bool has_ended(const MeanTransfer& transfer) const;

  double now_ = 0;
  double takes_from_ = 0;                ///< cycle from which on the core can take in what comes next
  std::vector<MeanTransfer> under_way_;  ///< in the order of their starts
};

}  // namespace stowage
