// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/lookahead.h"

#include <optional>
#include <set>

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

class Recogniser {
 public:
  explicit Recogniser(const LoopNest& nest) : nest_(nest) {}

  WithoutLookahead run() {
    find_only_gets();
    visit_with_enclosing(nest_, [&](const Stmt& s, const Enclosing& around) {
      if (around.loops().size() < 2) return;
      const VarId innermost(around.loops().back().variable);
      if (const auto* let = std::get_if<Let>(&s.node)) {
        named_.push_back({let->variable, innermost, around.expanded(let->value)});
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
    std::map<BufferId, std::vector<int>> gets;
    visit_statements(nest_.body, [&](const Stmt& s) {
      const auto* dma = std::get_if<Dma>(&s.node);
      if (dma != nullptr && dma->direction == DmaDirection::get) gets[dma->buffer].push_back(s.id);
    });
    for (const auto& [buffer, ids] : gets) {
      if (ids.size() == 2 && nest_.buffers[buffer].slots > 1) pairs_[ids[1]] = ids[0];
    }
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
      for (const StmtPtr& inside : guard.body) {
        if (pairs_.contains(inside->id)) first_of_[inside->id] = pairs_.at(inside->id);
      }
      guards_[s.id] = std::move(current);
      return;
    }
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
  std::map<int, int> pairs_;       ///< second get of a buffer → first one, by Stmt::id
  std::vector<Named> named_;       ///< lets in two loops or more
  std::map<int, Current> guards_;  ///< by Stmt::id
  std::map<int, int> first_of_;
};

}  // namespace

WithoutLookahead without_lookahead(const LoopNest& nest) { return Recogniser(nest).run(); }

}  // namespace stowage
