// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/trip_chain.h"

#include <algorithm>

namespace stowage {

bool TripChain::has(VarId variable) const {
  return std::any_of(loops.begin(), loops.end(), [&](const Loop& loop) { return loop.variable == variable; });
}

std::int64_t TripChain::trips_inside(std::size_t position) const {
  std::int64_t trips = 1;
  for (std::size_t l = position + 1; l < loops.size(); ++l) trips *= loops[l].extent.constant();
  return trips;
}

IndexExpr TripChain::trip() const {
  IndexExpr number;
  for (std::size_t l = 0; l < loops.size(); ++l) number += IndexExpr(loops[l].variable) * trips_inside(l);
  return number;
}

IndexExpr TripChain::trips() const { return loops.front().extent * trips_inside(0); }

IndexExpr TripChain::slot(std::int64_t slots, std::int64_t ahead) const {
  IndexExpr number = ahead;
  for (std::size_t l = 0; l < loops.size(); ++l) number += IndexExpr(loops[l].variable) * (trips_inside(l) % slots);
  return remainder(number, slots);
}

std::map<VarId, IndexExpr> TripChain::ahead(std::int64_t trips) const {
  std::map<VarId, IndexExpr> next;
  IndexExpr carry = trips;
  for (std::size_t l = loops.size(); l-- > 0;) {
    const Loop& loop = loops[l];
    const IndexExpr number = IndexExpr(loop.variable) + carry;
    if (l == 0) {
      next[loop.variable] = number;
    } else if (loop.extent.constant() == 1) {
      next[loop.variable] = 0;
    } else {
      next[loop.variable] = remainder(number, loop.extent.constant());
      carry = floor_div(number, loop.extent.constant());
    }
  }
  return next;
}

std::map<VarId, std::int64_t> TripChain::at(std::int64_t trip) const {
  std::map<VarId, std::int64_t> values;
  for (std::size_t l = 0; l < loops.size(); ++l) {
    const std::int64_t inside = trips_inside(l);
    values[loops[l].variable] = trip / inside;
    trip %= inside;
  }
  return values;
}

std::optional<TripChain> chain_ahead(const Enclosing& around, const IndexExpr& asked, std::int64_t ahead) {
  TripChain chain;
  for (std::size_t l = around.loops().size(); l-- > 0;) {
    const EnclosingLoop& loop = around.loops()[l];
    if (!chain.loops.empty() && !chain.loops.front().extent.is_constant()) return std::nullopt;
    const VarId variable(loop.variable);
    chain.loops.insert(chain.loops.begin(), Loop{variable, loop.trips.expr, {}, {}});
    if (asked == loop.trips.expr - chain.ahead(ahead).at(variable)) return chain;
  }
  return std::nullopt;
}

}  // namespace stowage
