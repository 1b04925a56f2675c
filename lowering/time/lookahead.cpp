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

/// A name for a loop's variable in a trip to come.
struct Named {
  VarId name;
  VarId innermost;  ///< of the loops around
  IndexExpr value;  ///< over core and loop variables
};

/// A get of one of the first trips.
struct First {
  std::int64_t trip = 0;
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
      if (const auto found = firsts_.find(s.id); found != firsts_.end()) {
        First& first = found->second;
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
  using Current = std::map<VarId, VarId>;  ///< names of a trip to come → variables of this one

  /// Buffers that as many gets fill as they have slots: the first trips', then the others'.
  void find_only_gets() {
    std::map<BufferId, std::vector<StatementId>> gets;
    visit_statements(nest_.body, [&](const Stmt& s) {
      const auto* dma = std::get_if<Dma>(&s.node);
      if (dma != nullptr && dma->direction == DmaDirection::get) gets[dma->buffer].push_back(s.id);
    });
    for (const auto& [buffer, ids] : gets) {
      if (nest_.buffers[buffer].slots < 2 || std::ssize(ids) != nest_.buffers[buffer].slots) continue;
      std::vector<StatementId>& first = firsts_of_[ids.back()];
      first.assign(ids.begin(), ids.end() - 1);
      for (std::size_t trip = 0; trip < first.size(); ++trip)
        firsts_[first[trip]].trip = static_cast<std::int64_t>(trip);
    }
  }

  /// A guard that asks whether there is such a trip of the innermost loops, with nothing but such gets inside.
  void recognise(const Stmt& s, const Guard& guard, const Enclosing& around) {
    if (guard.any_positive.size() != 1) return;
    std::int64_t ahead = 0;
    for (const StmtPtr& inside : guard.body) {
      if (std::holds_alternative<Let>(inside->node)) continue;
      const auto get = firsts_of_.find(inside->id);
      if (get == firsts_of_.end() || (ahead != 0 && ahead != std::ssize(get->second))) return;
      ahead = std::ssize(get->second);
    }
    if (ahead == 0) return;
    const auto chain = chain_ahead(around, around.expanded(guard.any_positive.front()), ahead);
    if (!chain || chain->loops.size() < 2) return;
    const std::map<VarId, IndexExpr> next = chain->ahead(ahead);
    Current current;
    for (const Named& named : named_) {
      if (!(named.innermost == chain->innermost())) continue;
      for (const auto& [variable, value] : next) {
        if (named.value == value) current.emplace(named.name, variable);
      }
    }
    if (!moves_by_names(guard.body, *chain, current) || !begins_as_first(guard.body, *chain, current, around)) return;
    for (const StmtPtr& inside : guard.body) {
      if (const auto get = firsts_of_.find(inside->id); get != firsts_of_.end()) first_of_[get->first] = get->second;
    }
    guards_[s.id] = std::move(current);
  }

  /// Whether what gets load moves with the trips of a chain by these names alone, so that with the variables in their
  /// place it is what this trip needs. A nest from elsewhere may count its trips in another way.
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

  /// Whether what gets load is in the first trips what those of these trips load, by the same calls.
  [[nodiscard]] bool begins_as_first(const Block& block, const TripChain& chain, const Current& current,
                                     const Enclosing& around) const {
    for (const StmtPtr& s : block) {
      const auto get = firsts_of_.find(s->id);
      if (get == firsts_of_.end()) continue;
      const bool same = std::all_of(get->second.begin(), get->second.end(), [&](StatementId first) {
        return loads_as(std::get<Dma>(s->node), firsts_.at(first), block, chain, current, around);
      });
      if (!same) return false;
    }
    return true;
  }

  /// Whether a get of the block loads in that trip what `first` does.
  [[nodiscard]] bool loads_as(const Dma& dma, const First& first, const Block& block, const TripChain& chain,
                              const Current& current, const Enclosing& around) const {
    const std::map<VarId, std::int64_t> at = chain.at(first.trip);
    std::map<VarId, IndexExpr> inside;  // lets of the block, in that trip
    const auto in_trip = [&](const IndexExpr& e) {
      const IndexExpr now = substitute(e, [&](VarId v) {
        const auto let = inside.find(v);
        if (let != inside.end()) return let->second;
        const auto name = current.find(v);
        return IndexExpr(name == current.end() ? v : name->second);
      });
      return substitute(around.expanded(now), [&](VarId v) {
        const auto found = at.find(v);
        return found == at.end() ? IndexExpr(v) : IndexExpr(found->second);
      });
    };
    for (const StmtPtr& s : block) {
      if (const auto* let = std::get_if<Let>(&s->node)) inside.emplace(let->variable, in_trip(let->value));
    }
    if (dma.to != first.dma->to || dma.unit_bytes != first.dma->unit_bytes) return false;
    for (std::size_t d = 0; d < dma.region.size(); ++d) {
      const IndexExpr longer = in_trip(dma.region[d].extent) - first.extents[d];
      const Interval difference = bounds(longer, [&](VarId v) { return nest_.variables[v.index()].range; });
      if (dma.region[d].max_extent != first.dma->region[d].max_extent || difference != Interval{0, 0}) return false;
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
  std::map<VarId, IndexExpr> values_;                          ///< of lets, over core and loop variables
  std::map<StatementId, std::vector<StatementId>> firsts_of_;  ///< last get of a buffer → those before, in order
  std::map<StatementId, First> firsts_;
  std::vector<Named> named_;  ///< lets in two loops or more
  std::map<StatementId, Current> guards_;
  std::map<StatementId, std::vector<StatementId>> first_of_;
};

}  // namespace

WithoutLookahead without_lookahead(const LoopNest& nest) { return Recogniser(nest).run(); }

}  // namespace stowage
