// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/limit_distance.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "lowering/time/rates.h"

namespace stowage {

std::string_view name_of(LostTo cause) {
  switch (cause) {
    case LostTo::inner_loop: return "inner loops";
    case LostTo::capacity: return "bytes moved again";
    case LostTo::layout: return "short blocks and calls";
    case LostTo::overlap: return "missing overlap";
    case LostTo::barriers: return "barriers";
    case LostTo::launch: return "launches";
  }
  fail_check("unknown cause of a distance to the limit");
}

LimitDistance& LimitDistance::operator+=(const LimitDistance& other) {
  limit += other.limit;
  for (std::size_t i = 0; i < lost.size(); ++i) lost[i] += other.lost[i];
  return *this;
}

LimitDistance distance_to_limit(const Plan& plan, const PhysicalLimit& limit, const Target& target) {
  std::int64_t computed = 0, issued = 0, moved = 0, exposed = 0, bytes = 0;
  LimitDistance distance;
  const auto lost = [&](LostTo cause) -> std::int64_t& { return distance.lost[static_cast<std::size_t>(cause)]; };
  for (const TimeTerm& term : plan.time.terms) {
    switch (kind_of(term.cost)) {
      case CostKind::launch: lost(LostTo::launch) += term.cycles; break;
      case CostKind::barrier:
      case CostKind::broadcast: lost(LostTo::barriers) += term.cycles; break;
      case CostKind::compute:
      case CostKind::fill: computed += term.cycles; break;
      case CostKind::get:
      case CostKind::put: {
        const auto& transfer = std::get<TransferCost>(term.cost);
        const std::int64_t of_core = std::min<std::int64_t>(std::llround(issuing_cycles(transfer)), term.cycles);
        issued += of_core;
        moved += term.cycles - of_core + transfer.hidden_cycles;
        exposed += term.cycles - of_core;
        bytes += bytes_of(term.cost);
        break;
      }
    }
  }
  const std::int64_t busy = computed + issued;  // of a core
  // Start-ups of several transfers pass beside each other, and so beside what is moved meanwhile.
  moved = std::min(moved, busy + exposed);
  const std::int64_t longer = std::max(busy, moved);
  lost(LostTo::overlap) = busy + exposed - longer;

  distance.limit = std::min<std::int64_t>(longer, std::llround(limit.seconds() * target.clock_hz));
  const std::int64_t excess = longer - distance.limit;
  if (busy >= moved) {
    lost(LostTo::layout) = std::min(excess, issued);
    lost(LostTo::inner_loop) = excess - lost(LostTo::layout);
    return distance;
  }
  const double at_best = target.clock_hz / peak_dma_bandwidth(target);  // cycles of a byte
  const double again = static_cast<double>(std::max<std::int64_t>(0, bytes - limit.bytes)) * at_best;
  const double slower = std::max(0.0, static_cast<double>(moved) - static_cast<double>(bytes) * at_best);
  const double share = again + slower > 0 ? again / (again + slower) : 0;
  lost(LostTo::capacity) = std::llround(share * static_cast<double>(excess));
  lost(LostTo::layout) = excess - lost(LostTo::capacity);
  return distance;
}

}  // namespace stowage
