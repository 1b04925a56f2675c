// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/mean_engine.h"

#include <algorithm>
#include <limits>

namespace stowage {
namespace {

/// Cycles of the engine that are rounding, so late in a nest: with less than that left a transfer has been served.
double rounding_at(double cycle) { return 1e-6 + 1e-12 * cycle; }

}  // namespace

bool MeanEngine::has_ended(const MeanTransfer& transfer) const {
  return transfer.taken_in && transfer.parts <= 0 && *transfer.taken_in <= now_;
}

void MeanEngine::step(double limit) {
  double moving = 0;
  for (MeanTransfer& transfer : under_way_) {
    if (transfer.moves > now_) continue;
    if (!transfer.taken_in) {
      takes_from_ = std::max(takes_from_, now_) + transfer.least;
      transfer.taken_in = takes_from_;
    }
    if (transfer.parts > 0) moving += transfer.cores;
  }
  double next = limit;
  for (const MeanTransfer& transfer : under_way_) {
    if (transfer.moves > now_) {
      next = std::min(next, transfer.moves);
    } else if (transfer.parts > 0) {
      next = std::min(next, now_ + transfer.parts * moving);
    } else {
      next = std::min(next, *transfer.taken_in);
    }
  }
  const double rounding = rounding_at(next);
  const double served = moving > 0 ? (next - now_) / moving : 0;
  for (MeanTransfer& transfer : under_way_) {
    if (transfer.moves > now_ || transfer.parts <= 0) continue;
    transfer.parts -= served;
    if (transfer.parts < rounding) transfer.parts = 0;
  }
  now_ = next;
}

void MeanEngine::advance(double cycle) {
  while (now_ < cycle) {
    if (under_way_.empty()) {
      now_ = cycle;
      return;
    }
    step(cycle);
    std::erase_if(under_way_, [&](const MeanTransfer& t) { return has_ended(t); });
  }
}

std::optional<CostId> MeanEngine::finish(const AwaitedTransfers& awaited) {
  std::optional<CostId> last;
  const auto is_awaited = [&](const MeanTransfer& t) { return awaited.has(t); };
  while (std::any_of(under_way_.begin(), under_way_.end(), is_awaited)) {
    step(std::numeric_limits<double>::infinity());
    std::erase_if(under_way_, [&](const MeanTransfer& t) {
      const bool ended = has_ended(t);
      if (ended && awaited.has(t)) last = t.row;
      return ended;
    });
  }
  return last;
}

void MeanEngine::skip(double cycles) {
  now_ += cycles;
  takes_from_ += cycles;
  for (MeanTransfer& transfer : under_way_) {
    transfer.moves += cycles;
    if (transfer.taken_in) *transfer.taken_in += cycles;
  }
}

}  // namespace stowage
