// SPDX-License-Identifier: Apache-2.0
#include "lowering/nest/overlap_sites.h"

#include <functional>
#include <optional>

#include "lowering/ir/rewrite.h"

namespace stowage {
namespace {

/// Trips that slots are counted along, at most: so many the verifier follows one by one (verify_flow.cpp), for every
/// core where cores have different numbers of them.
constexpr std::int64_t max_trips = 4096;
constexpr std::int64_t max_trips_of_all_cores = 16384;

using Around = std::vector<const Stmt*>;

void visit_around(const Block& block, Around& around, const std::function<void(const Stmt&, const Around&)>& visit) {
  for (const StmtPtr& statement : block) {
    visit(*statement, around);
    const Block* const body = body_of(*statement);
    if (body == nullptr) continue;
    around.push_back(statement.get());
    visit_around(*body, around, visit);
    around.pop_back();
  }
}

/// Calls `visit` for every expression of a statement itself, and for where the boxes begin that it uses.
void visit_indices(const LoopNest& nest, const Stmt& s, const std::function<void(const IndexExpr&)>& visit) {
  const auto ranges = [&](const std::vector<Range>& all) {
    for (const Range& range : all) visit(range.start), visit(range.extent);
  };
  visit_uses(s, [&](const BufferUse& use) {
    visit(use.slot);
    for (const IndexExpr& e : origin_of(nest, use)) visit(e);
  });
  if (const auto* loop = std::get_if<Loop>(&s.node)) visit(loop->extent);
  if (const auto* let = std::get_if<Let>(&s.node)) visit(let->value);
  if (const auto* guard = std::get_if<Guard>(&s.node)) {
    for (const IndexExpr& e : guard->any_positive) visit(e);
  }
  if (const auto* dma = std::get_if<Dma>(&s.node)) ranges(dma->region);
  if (const auto* broadcast = std::get_if<Broadcast>(&s.node)) visit(broadcast->sender), ranges(broadcast->region);
  if (const auto* fill = std::get_if<Fill>(&s.node); fill != nullptr && fill->around) ranges(*fill->around);
  if (const auto* compute = std::get_if<Compute>(&s.node)) ranges(compute->box);
}

/// Finds what can overlap in a nest of blocking transfers.
class Finder {
 public:
  explicit Finder(const LoopNest& nest) : nest_(nest), uses_(nest.buffers.size()) {
    Around around;
    visit_around(nest.body, around, [&](const Stmt& s, const Around& here) {
      all_.push_back({&s, here});
      visit_uses(s, [&](const BufferUse& use) {
        uses_[use.buffer].push_back(all_.size() - 1);
        if (!use.origin.empty() || !use.slot.is_constant()) moved_already_.insert(use.buffer);
      });
      const auto* wait = std::get_if<Wait>(&s.node);
      if (wait == nullptr) return;
      if (wait->slot) moved_already_.insert(wait->slot->buffer);
      if (!wait->slot) waits_[*wait->dma].push_back(all_.size() - 1);
    });
  }

  Overlap find() {
    Overlap overlap;
    for (const BufferId b : nest_.buffers.ids()) {
      if (nest_.buffers[b].slots < 2 || moved_already_.contains(b)) continue;
      const auto moved = only_transfer(b);
      if (!moved) continue;
      const Stmt& transfer = *all_[*moved].statement;
      const auto chain = chain_of(all_[*moved].around);
      if (!chain) continue;
      if (std::get<Dma>(transfer.node).direction == DmaDirection::get) {
        if (auto load = load_of(b, *moved, *chain)) overlap.loads.emplace(b, *std::move(load));
      } else if (auto store = store_of(b, *chain)) {
        overlap.stores.emplace(b, *std::move(store));
      }
      if (overlap.loads.contains(b) || overlap.stores.contains(b)) overlap.transfers[transfer.id] = b;
    }
    return overlap;
  }

 private:
  struct Placed {
    const Stmt* statement = nullptr;
    Around around;
  };

  /// The one transfer of a buffer, where it is awaited once, in its own block.
  [[nodiscard]] std::optional<std::size_t> only_transfer(BufferId buffer) const {
    std::optional<std::size_t> found;
    for (const std::size_t u : uses_[buffer]) {
      if (!route_of(*all_[u].statement)) continue;
      if (found || std::holds_alternative<Broadcast>(all_[u].statement->node)) return std::nullopt;
      found = u;
    }
    if (!found) return std::nullopt;
    const auto waits = waits_.find(all_[*found].statement->id);
    if (waits == waits_.end() || waits->second.size() != 1) return std::nullopt;
    return all_[waits->second.front()].around == all_[*found].around ? found : std::nullopt;
  }

  [[nodiscard]] std::optional<TripChain> chain_of(const Around& around) const {
    TripChain chain;
    std::int64_t trips = 1;
    for (std::size_t depth = around.size(); depth-- > 0;) {
      const auto* loop = std::get_if<Loop>(&around[depth]->node);
      if (loop == nullptr) break;
      if (loop->extent.is_constant() && loop->extent.constant() == 0) return std::nullopt;  // a sum of nothing
      const std::int64_t most = nest_.variables[loop->variable.index()].range.high + 1;
      const std::int64_t cores = loop->extent.is_constant() ? 1 : nest_.cores_used();
      if (trips * most > max_trips || trips * most * cores > max_trips_of_all_cores) break;
      trips *= most;
      chain.loops.insert(chain.loops.begin(), Loop{loop->variable, loop->extent, loop->iterator, {}});
      chain.block = depth;
      chain.outermost = around[depth]->id;
      if (!loop->extent.is_constant()) break;
    }
    return trips > 1 ? std::optional(chain) : std::nullopt;
  }

  [[nodiscard]] static bool is_inside(const Placed& placed, StatementId outermost) {
    return std::any_of(placed.around.begin(), placed.around.end(), [&](const Stmt* s) { return s->id == outermost; });
  }

  [[nodiscard]] std::optional<Load> load_of(BufferId buffer, std::size_t transfer, const TripChain& chain) const {
    Load load;
    load.chain = chain;
    for (const Placed& placed : all_) {
      const auto* let = std::get_if<Let>(&placed.statement->node);
      if (let == nullptr || !is_inside(placed, chain.outermost)) continue;
      load.only_here.insert(let->variable);
      load.inside.add(*let);
    }
    keep_needed_elsewhere(load, *all_[transfer].statement);
    for (const Placed& placed : all_) {
      const auto* let = std::get_if<Let>(&placed.statement->node);
      if (let != nullptr && load.only_here.contains(let->variable)) load.lets.push_back(let->variable);
    }
    const auto& dma = std::get<Dma>(all_[transfer].statement->node);
    std::vector<IndexExpr> needed = nest_.buffers[buffer].origin;
    for (const Range& range : dma.region) needed.insert(needed.end(), {range.start, range.extent});
    for (const IndexExpr& e : needed) {
      const IndexExpr expanded = load.inside.expanded(e);
      if (!tensor_values_of(expanded).empty()) return std::nullopt;  // it would come from what is loaded now
      load.moves_with.merge(variables_of(expanded));
    }
    for (const std::size_t u : uses_[buffer]) {
      const auto* fill = std::get_if<Fill>(&all_[u].statement->node);
      if (fill == nullptr || !is_inside(all_[u], chain.outermost)) continue;
      if (!fill->around) return std::nullopt;
      load.fills.insert(all_[u].statement->id);
      if (fill->buffer.slot == IndexExpr(0)) load.padding.push_back(filled_behind_wait(all_[u], chain));
    }
    return load;
  }

  /// Leaves in `only_here` the lets that nothing else counts with.
  void keep_needed_elsewhere(Load& load, const Stmt& transfer) const {
    for (std::size_t before = 0; before != load.only_here.size();) {
      before = load.only_here.size();
      for (const Placed& placed : all_) {
        const auto* let = std::get_if<Let>(&placed.statement->node);
        if (placed.statement->id == transfer.id || (let != nullptr && load.only_here.contains(let->variable))) continue;
        visit_indices(nest_, *placed.statement, [&](const IndexExpr& e) {
          for (const VarId v : variables_of(e)) load.only_here.erase(v);
        });
      }
      const auto& dma = std::get<Dma>(transfer.node);
      for (const IndexExpr& e : origin_of(nest_, dma.buffer)) {
        for (const VarId v : variables_of(e)) load.only_here.erase(v);
      }
    }
  }

  /// A fill of the slot that was waited for, under the guards that it stood in inside the loops.
  [[nodiscard]] StmtPtr filled_behind_wait(const Placed& placed, const TripChain& chain) const {
    Fill fill = std::get<Fill>(placed.statement->node);
    fill.buffer.slot = chain.slot(nest_.buffers[fill.buffer].slots, 0);
    StmtPtr made = with_node(*placed.statement, std::move(fill));
    for (std::size_t depth = placed.around.size(); depth-- > 0;) {
      const Stmt& outer = *placed.around[depth];
      const auto* guard = std::get_if<Guard>(&outer.node);
      if (guard == nullptr) break;
      made = with_node(outer, Guard{guard->any_positive, {std::move(made)}});
    }
    return made;
  }

  [[nodiscard]] std::optional<Store> store_of(BufferId buffer, const TripChain& chain) const {
    std::set<BufferId> over = {buffer};
    for (std::size_t before = 0; before != over.size();) {
      before = over.size();
      for (const BufferId b : nest_.buffers.ids()) {
        const auto& shared = nest_.buffers[b].shares_with;
        if (shared && (over.contains(b) || over.contains(*shared))) over.insert({b, *shared});
      }
    }
    Store store{chain, {over.begin(), over.end()}, StatementId()};
    std::size_t first = all_.size();
    for (const BufferId b : over) {
      if (nest_.buffers[b].slots != nest_.buffers[buffer].slots || moved_already_.contains(b)) return std::nullopt;
      for (const std::size_t u : uses_[b]) {
        const Stmt& s = *all_[u].statement;
        if (b != buffer && route_of(s)) return std::nullopt;
        if (!is_inside_innermost(all_[u], chain)) return std::nullopt;
        first = std::min(first, u);
      }
    }
    // The wait for the slot stands in front of the first use, once a trip.
    const Around& around = all_[first].around;
    if (route_of(*all_[first].statement) || std::get_if<Loop>(&around.back()->node) == nullptr) return std::nullopt;
    if (!(std::get<Loop>(around.back()->node).variable == chain.innermost())) return std::nullopt;
    store.first = all_[first].statement->id;
    return store;
  }

  [[nodiscard]] static bool is_inside_innermost(const Placed& placed, const TripChain& chain) {
    return std::any_of(placed.around.begin(), placed.around.end(), [&](const Stmt* s) {
      const auto* loop = std::get_if<Loop>(&s->node);
      return loop != nullptr && loop->variable == chain.innermost();
    });
  }

  const LoopNest& nest_;
  std::vector<Placed> all_;                                ///< in program order
  IdVector<BufferId, std::vector<std::size_t>> uses_;      ///< into all_
  std::map<StatementId, std::vector<std::size_t>> waits_;  ///< by the transfer that they name: into all_
  std::set<BufferId> moved_already_;                       ///< buffers whose slots are told apart in the nest as it is
};

}  // namespace

Overlap find_overlap(const LoopNest& nest) { return Finder(nest).find(); }

}  // namespace stowage
