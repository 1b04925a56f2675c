// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/lookahead.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "lowering/ir/enclosing.h"
#include "lowering/ir/rewrite.h"
#include "lowering/ir/trip_chain.h"

namespace stowage {
namespace {

/// A name for a loop's variable in the next trip.
struct Named {
  VarId name;
  VarId innermost;  ///< of the loops around
  IndexExpr value;  ///< over core and loop variables
};

/// A get of the first trip.
struct First {
  const Dma* dma = nullptr;
  std::vector<IndexExpr> extents;  ///< over core and loop variables
};

class Recogniser {
 public:
  explicit Recogniser(const LoopNest& nest) : nest_(nest) {}

  WithoutLookahead run() {
    find_only_gets();
    visit_with_enclosing(nest_, [&](const Stmt& s, const Enclosing& around) {
      const auto* let = std::get_if<Let>(&s.node);
      if (is_first(s)) {
        First& first = firsts_[s.id];
        first.dma = &std::get<Dma>(s.node);
        for (const Range& range : first.dma->region) first.extents.push_back(around.expanded(range.extent));
      }
      if (let != nullptr) values_.emplace(let->variable, around.expanded(let->value));
      if (around.loops().size() < 2) return;
      const VarId innermost(around.loops().back().variable);
      if (let != nullptr) {
        named_.push_back({let->variable, innermost, values_.at(let->variable)});
      } else if (const auto* guard = std::get_if<Guard>(&s.node)) {
        recognise(s, *guard, around);
      }
    });
    WithoutLookahead result{nest_, {}};
    if (guards_.empty()) return result;
    result.first_of = first_of_;
    result.nest.body = rewritten(nest_.body, [&](const Stmt& s) -> Replacement {
      const auto found = guards_.find(s.id);
      if (found == guards_.end()) return std::nullopt;
      return of_every_trip(std::get<Guard>(s.node).body, found->second);
    });
    return result;
  }

 private:
  using Current = std::map<VarId, VarId>;  ///< names of the next trip → variables of this one

  /// Buffers that two gets fill: the first trip's, then the others'.
  void find_only_gets() {
    std::map<BufferId, std::vector<StatementId>> gets;
    visit_statements(nest_.body, [&](const Stmt& s) {
      const auto* dma = std::get_if<Dma>(&s.node);
      if (dma != nullptr && dma->direction == DmaDirection::get) gets[dma->buffer].push_back(s.id);
    });
    for (const auto& [buffer, ids] : gets) {
      if (ids.size() == 2 && nest_.buffers[buffer].slots > 1) pairs_[ids[1]] = ids[0];
    }
  }

  [[nodiscard]] bool is_first(const Stmt& s) const {
    return std::any_of(pairs_.begin(), pairs_.end(), [&](const auto& pair) { return pair.second == s.id; });
  }

  /// A guard that asks whether there is a next trip of the innermost loops, with nothing but such gets inside.
  void recognise(const Stmt& s, const Guard& guard, const Enclosing& around) {
    if (guard.any_positive.size() != 1) return;
    for (const StmtPtr& inside : guard.body) {
      if (!std::holds_alternative<Let>(inside->node) && !pairs_.contains(inside->id)) return;
    }
    const IndexExpr asked = around.expanded(guard.any_positive.front());
    TripChain chain;
    for (std::size_t l = around.loops().size(); l-- > 0;) {
      const EnclosingLoop& loop = around.loops()[l];
      if (!chain.loops.empty() && !chain.loops.front().extent.is_constant()) return;
      chain.loops.insert(chain.loops.begin(), Loop{VarId(loop.variable), loop.trips.expr, {}, {}});
      const std::map<VarId, IndexExpr> next = chain.next();
      if (chain.loops.size() < 2 || !(asked == loop.trips.expr - next.at(VarId(loop.variable)))) continue;
      Current current;
      for (const Named& named : named_) {
        if (!(named.innermost == chain.innermost())) continue;
        for (const auto& [variable, value] : next) {
          if (named.value == value) current.emplace(named.name, variable);
        }
      }
      if (!moves_by_names(guard.body, chain, current) || !begins_as_first(guard.body, chain, current, around)) return;
      for (const StmtPtr& inside : guard.body) {
        if (pairs_.contains(inside->id)) first_of_[inside->id] = pairs_.at(inside->id);
      }
      guards_[s.id] = std::move(current);
      return;
    }
  }

  /// Whether what gets load moves with the trips of a chain by these names alone, so that with the variables in their
  /// place it is what this trip needs. A nest from elsewhere may count its next trip in another way.
  [[nodiscard]] bool moves_by_names(const Block& block, const TripChain& chain, const Current& current) const {
    std::set<VarId> inside;  // lets of the block, each looked at where it stands
    const auto moves = [&](VarId v) {
      return std::any_of(chain.loops.begin(), chain.loops.end(), [&](const Loop& loop) {
        return loop.variable == v && !(loop.extent == IndexExpr(1));  // a single trip is at 0
      });
    };
    const auto is_else = [&](VarId v) {
      if (current.contains(v) || inside.contains(v)) return false;
      const auto let = values_.find(v);
      return let == values_.end() ? moves(v) : any_variable(let->second, moves);
    };
    for (const StmtPtr& s : block) {
      if (const auto* let = std::get_if<Let>(&s->node)) {
        if (any_variable(let->value, is_else)) return false;
        inside.insert(let->variable);
      } else if (const auto* dma = std::get_if<Dma>(&s->node)) {
        for (const Range& range : dma->region) {
          if (any_variable(range.start, is_else) || any_variable(range.extent, is_else)) return false;
        }
      }
    }
    return true;
  }

  /// Whether what gets load is in trip 0 what those of the first trip load, by the same calls.
  [[nodiscard]] bool begins_as_first(const Block& block, const TripChain& chain, const Current& current,
                                     const Enclosing& around) const {
    std::map<VarId, IndexExpr> inside;  // lets of the block, in trip 0
    const auto in_first = [&](const IndexExpr& e) {
      const IndexExpr now = substitute(e, [&](VarId v) {
        const auto let = inside.find(v);
        if (let != inside.end()) return let->second;
        const auto name = current.find(v);
        return IndexExpr(name == current.end() ? v : name->second);
      });
      return substitute(around.expanded(now), [&](VarId v) { return chain.has(v) ? IndexExpr(0) : IndexExpr(v); });
    };
    for (const StmtPtr& s : block) {
      if (const auto* let = std::get_if<Let>(&s->node)) inside.emplace(let->variable, in_first(let->value));
      const auto* dma = std::get_if<Dma>(&s->node);
      if (dma == nullptr) continue;
      const First& first = firsts_.at(pairs_.at(s->id));
      if (dma->to != first.dma->to || dma->unit_bytes != first.dma->unit_bytes) return false;
      for (std::size_t d = 0; d < dma->region.size(); ++d) {
        const IndexExpr longer = in_first(dma->region[d].extent) - first.extents[d];
        const Interval difference = bounds(longer, [&](VarId v) { return nest_.variables[v.index()].range; });
        if (dma->region[d].max_extent != first.dma->region[d].max_extent || difference != Interval{0, 0}) return false;
      }
    }
    return true;
  }

  [[nodiscard]] static Block of_every_trip(const Block& block, const Current& current) {
    const auto now = [&](const IndexExpr& e) {
      return substitute(e, [&](VarId v) {
        const auto found = current.find(v);
        return IndexExpr(found == current.end() ? v : found->second);
      });
    };
    return rewritten(block, [&](const Stmt& s) -> Replacement {
      Stmt::Node node = s.node;
      if (auto* let = std::get_if<Let>(&node)) let->value = now(let->value);
      if (auto* dma = std::get_if<Dma>(&node)) {
        for (Range& range : dma->region) range = {now(range.start), now(range.extent), range.max_extent};
      }
      return Block{with_node(s, std::move(node))};
    });
  }

  const LoopNest& nest_;
  std::map<VarId, IndexExpr> values_;         ///< of lets, over core and loop variables
  std::map<StatementId, StatementId> pairs_;  ///< second get of a buffer → first one
  std::map<StatementId, First> firsts_;
  std::vector<Named> named_;  ///< lets in two loops or more
  std::map<StatementId, Current> guards_;
  std::map<StatementId, StatementId> first_of_;
};

}  // namespace

WithoutLookahead without_lookahead(const LoopNest& nest) { return Recogniser(nest).run(); }

}  // namespace stowage
