// SPDX-License-Identifier: Apache-2.0
// Buffers of several slots are moved while something else is computed.
//
// Of an input, the first trip's box is loaded before the loops, and every trip starts to load the next one's into the
// next slot before it waits for its own. Of an output, a trip's result is stored while the next trips compute into
// other slots; before a slot is written again its store is awaited, and behind the loops those that are left.
//
// Trips are counted along all loops around the transfer whose trip counts are known, so that the last trip of an inner
// loop loads what the first one of the next outer trip needs. Where that would make the verifier follow too many trips,
// the outer loops are left out: then each entry of the others begins with a load that nothing hides.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "core/check.h"
#include "lowering/ir/rewrite.h"
#include "lowering/nest/passes.h"

namespace stowage {
namespace {

/// Trips that slots are counted along, at most: so many the verifier follows one by one (verify_flow.cpp), for every
/// core where cores have different numbers of them.
constexpr std::int64_t max_trips = 4096;
constexpr std::int64_t max_trips_of_all_cores = 16384;

using Around = std::vector<const Stmt*>;

std::size_t index(int number) { return static_cast<std::size_t>(number); }

/// Loops, outermost first, one directly inside the other but for lets, transfers and computations.
struct Chain {
  std::vector<Loop> loops;  ///< without their bodies; all but the outermost with a constant number of trips
  std::size_t block = 0;    ///< number of statements around the outermost
  int outermost = 0;        ///< Stmt::id

  [[nodiscard]] VarId innermost() const { return loops.back().variable; }
  [[nodiscard]] bool has(VarId variable) const {
    return std::any_of(loops.begin(), loops.end(), [&](const Loop& loop) { return loop.variable == variable; });
  }
  /// Trips of all loops inside of the one at `position`.
  [[nodiscard]] std::int64_t trips_inside(std::size_t position) const {
    std::int64_t trips = 1;
    for (std::size_t l = position + 1; l < loops.size(); ++l) trips *= loops[l].extent.constant();
    return trips;
  }
  /// The number of a trip among all of them, from 0.
  [[nodiscard]] IndexExpr trip() const {
    IndexExpr number;
    for (std::size_t l = 0; l < loops.size(); ++l) number += IndexExpr(loops[l].variable) * trips_inside(l);
    return number;
  }
  [[nodiscard]] IndexExpr trips() const { return loops.front().extent * trips_inside(0); }
  /// The slot of the trip that comes so many behind the present one.
  [[nodiscard]] IndexExpr slot(std::int64_t slots, std::int64_t ahead) const {
    IndexExpr number = ahead;
    for (std::size_t l = 0; l < loops.size(); ++l) {
      number += IndexExpr(loops[l].variable) * (trips_inside(l) % slots);
    }
    return remainder(number, slots);
  }
};

/// An input that is loaded ahead.
struct Load {
  Chain chain;
  std::set<VarId> only_here;      ///< lets that nothing but the get's region needs
  std::vector<VarId> lets;        ///< the same in program order
  std::vector<StmtPtr> padding;   ///< fills of its padding inside the loops, now of the slot that is waited for
  std::set<int> fills;            ///< Stmt::id of all fills of its padding there
  std::map<VarId, IndexExpr> as;  ///< lets inside the loops, by what they stand for
  std::set<VarId> moves_with;     ///< variables that region and origin come from

  [[nodiscard]] IndexExpr expanded(const IndexExpr& e) const {
    return substitute(e, [&](VarId v) {
      const auto found = as.find(v);
      return found == as.end() ? IndexExpr(v) : found->second;
    });
  }
};

/// An output that is stored while others are computed.
struct Store {
  Chain chain;
  std::vector<int> buffers;  ///< that lie over each other in its slots
  int first = 0;             ///< Stmt::id of the first statement of a trip that writes one of them
};

struct Overlap {
  std::map<int, Load> loads;     ///< by buffer
  std::map<int, Store> stores;   ///< by buffer
  std::map<int, int> transfers;  ///< Stmt::id of their transfers → buffer

  [[nodiscard]] bool any() const { return !transfers.empty(); }
};

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
void visit_expressions(const LoopNest& nest, const Stmt& s, const std::function<void(const IndexExpr&)>& visit) {
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
        uses_[index(use.buffer)].push_back(all_.size() - 1);
        if (!use.origin.empty() || !use.slot.is_constant()) moved_already_.insert(use.buffer);
      });
      const auto* wait = std::get_if<Wait>(&s.node);
      if (wait == nullptr) return;
      if (wait->slot) moved_already_.insert(wait->slot->buffer);
      if (!wait->slot) waits_[wait->dma].push_back(all_.size() - 1);
    });
  }

  Overlap find() {
    Overlap overlap;
    for (int b = 0; b < static_cast<int>(nest_.buffers.size()); ++b) {
      if (nest_.buffers[index(b)].slots < 2 || moved_already_.contains(b)) continue;
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
  [[nodiscard]] std::optional<std::size_t> only_transfer(int buffer) const {
    std::optional<std::size_t> found;
    for (const std::size_t u : uses_[index(buffer)]) {
      if (!route_of(*all_[u].statement)) continue;
      if (found || team_of(*all_[u].statement)) return std::nullopt;
      found = u;
    }
    if (!found) return std::nullopt;
    const auto waits = waits_.find(all_[*found].statement->id);
    if (waits == waits_.end() || waits->second.size() != 1) return std::nullopt;
    return all_[waits->second.front()].around == all_[*found].around ? found : std::nullopt;
  }

  [[nodiscard]] std::optional<Chain> chain_of(const Around& around) const {
    Chain chain;
    std::int64_t trips = 1;
    for (std::size_t depth = around.size(); depth-- > 0;) {
      const auto* loop = std::get_if<Loop>(&around[depth]->node);
      if (loop == nullptr) break;
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

  [[nodiscard]] static bool is_inside(const Placed& placed, int outermost) {
    return std::any_of(placed.around.begin(), placed.around.end(), [&](const Stmt* s) { return s->id == outermost; });
  }

  [[nodiscard]] std::optional<Load> load_of(int buffer, std::size_t transfer, const Chain& chain) const {
    Load load;
    load.chain = chain;
    for (const Placed& placed : all_) {
      const auto* let = std::get_if<Let>(&placed.statement->node);
      if (let == nullptr || !is_inside(placed, chain.outermost)) continue;
      load.only_here.insert(let->variable);
      load.as[let->variable] = load.expanded(let->value);
    }
    keep_needed_elsewhere(load, *all_[transfer].statement);
    for (const Placed& placed : all_) {
      const auto* let = std::get_if<Let>(&placed.statement->node);
      if (let != nullptr && load.only_here.contains(let->variable)) load.lets.push_back(let->variable);
    }
    const auto& dma = std::get<Dma>(all_[transfer].statement->node);
    std::vector<IndexExpr> needed = nest_.buffers[index(buffer)].origin;
    for (const Range& range : dma.region) needed.insert(needed.end(), {range.start, range.extent});
    for (const IndexExpr& e : needed) {
      const IndexExpr expanded = load.expanded(e);
      if (!tensor_values_of(expanded).empty()) return std::nullopt;  // it would come from what is loaded now
      load.moves_with.merge(variables_of(expanded));
    }
    for (const std::size_t u : uses_[index(buffer)]) {
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
        visit_expressions(nest_, *placed.statement, [&](const IndexExpr& e) {
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
  [[nodiscard]] StmtPtr filled_behind_wait(const Placed& placed, const Chain& chain) const {
    Fill fill = std::get<Fill>(placed.statement->node);
    fill.buffer.slot = chain.slot(nest_.buffers[index(fill.buffer)].slots, 0);
    StmtPtr made = with_node(*placed.statement, std::move(fill));
    for (std::size_t depth = placed.around.size(); depth-- > 0;) {
      const Stmt& outer = *placed.around[depth];
      const auto* guard = std::get_if<Guard>(&outer.node);
      if (guard == nullptr) break;
      made = with_node(outer, Guard{guard->any_positive, {std::move(made)}});
    }
    return made;
  }

  [[nodiscard]] std::optional<Store> store_of(int buffer, const Chain& chain) const {
    std::set<int> over = {buffer};
    for (std::size_t before = 0; before != over.size();) {
      before = over.size();
      for (int b = 0; b < static_cast<int>(nest_.buffers.size()); ++b) {
        const auto& shared = nest_.buffers[index(b)].shares_with;
        if (shared && (over.contains(b) || over.contains(*shared))) over.insert({b, *shared});
      }
    }
    Store store{chain, {over.begin(), over.end()}, -1};
    std::size_t first = all_.size();
    for (const int b : over) {
      if (nest_.buffers[index(b)].slots != nest_.buffers[index(buffer)].slots || moved_already_.contains(b))
        return std::nullopt;
      for (const std::size_t u : uses_[index(b)]) {
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

  [[nodiscard]] static bool is_inside_innermost(const Placed& placed, const Chain& chain) {
    return std::any_of(placed.around.begin(), placed.around.end(), [&](const Stmt* s) {
      const auto* loop = std::get_if<Loop>(&s->node);
      return loop != nullptr && loop->variable == chain.innermost();
    });
  }

  const LoopNest& nest_;
  std::vector<Placed> all_;                        ///< in program order
  std::vector<std::vector<std::size_t>> uses_;     ///< by buffer: into all_
  std::map<int, std::vector<std::size_t>> waits_;  ///< by the transfer that they name: into all_
  std::set<int> moved_already_;                    ///< buffers whose slots are told apart in the nest as it is
};

/// Without the fills that move behind waits, and the guards that nothing else stood in.
Block without_moved_fills(const LoopNest& nest, const Overlap& overlap) {
  std::set<int> gone;
  for (const auto& [buffer, load] : overlap.loads) gone.insert(load.fills.begin(), load.fills.end());
  if (gone.empty()) return nest.body;
  return rewritten(nest.body, [&](const Stmt& s) -> Replacement {
    const auto* guard = std::get_if<Guard>(&s.node);
    if (gone.contains(s.id) || (guard != nullptr && guard->body.empty())) return Block{};
    return std::nullopt;
  });
}

class DoubleBuffer final : public NestRewriter {
 public:
  DoubleBuffer(LoopNest before, const Overlap& overlap) : NestRewriter(std::move(before)), overlap_(overlap) {
    for (const auto& [buffer, load] : overlap.loads) slot_[buffer] = load.chain.slot(slots_of(buffer), 0);
    for (const auto& [buffer, store] : overlap.stores) {
      for (const int over : store.buffers) slot_[over] = store.chain.slot(slots_of(buffer), 0);
    }
    visit_statements(nest().body, [&](const Stmt& s) {
      if (const auto* let = std::get_if<Let>(&s.node)) lets_[let->variable] = let->value;
    });
  }

 private:
  using Substitution = std::map<VarId, IndexExpr>;

  [[nodiscard]] std::int64_t slots_of(int buffer) const { return nest().buffers[index(buffer)].slots; }

  void visit(const StmtPtr& statement) override {
    for (const auto& [buffer, store] : overlap_.stores) {
      if (store.first == statement->id) await_slot(buffer, store);
    }
    if (const auto* let = std::get_if<Let>(&statement->node)) {
      const bool moves = std::any_of(overlap_.loads.begin(), overlap_.loads.end(),
                                     [&](const auto& load) { return load.second.only_here.contains(let->variable); });
      if (!moves) put(statement);
    } else if (const auto* wait = std::get_if<Wait>(&statement->node); wait != nullptr && !wait->slot) {
      waiting(statement, *wait);
    } else if (const auto found = overlap_.transfers.find(statement->id); found != overlap_.transfers.end()) {
      const auto& dma = std::get<Dma>(statement->node);
      if (dma.direction == DmaDirection::get) {
        load_ahead(*statement, dma, overlap_.loads.at(found->second));
      } else {
        put(in_slots(statement));
      }
    } else {
      put(in_slots(statement));
    }
  }

  /// The same statement, using the present trip's slots.
  [[nodiscard]] StmtPtr in_slots(const StmtPtr& statement) const {
    Stmt::Node node = statement->node;
    bool changed = false;
    const auto change = [&](BufferUse& use) {
      const auto slot = slot_.find(use.buffer);
      if (slot == slot_.end()) return;
      use.slot = slot->second;
      changed = true;
    };
    if (auto* dma = std::get_if<Dma>(&node)) change(dma->buffer);
    // Fills of an input's padding outside of the loops name the slots that they are for.
    if (auto* fill = std::get_if<Fill>(&node); fill != nullptr && !overlap_.loads.contains(fill->buffer))
      change(fill->buffer);
    if (auto* compute = std::get_if<Compute>(&node)) {
      change(compute->output_buffer);
      for (auto& read : compute->read_buffers) {
        if (read) change(*read);
      }
    }
    return changed ? with_node(*statement, std::move(node)) : statement;
  }

  // --- loads ---------------------------------------------------------------------------------------------------------

  /// The get with other values of the loops' variables.
  [[nodiscard]] Dma moved(Dma dma, const IndexExpr& slot, const std::function<IndexExpr(const IndexExpr&)>& at) const {
    const std::vector<IndexExpr>& own = nest().buffers[index(dma.buffer)].origin;
    std::vector<IndexExpr> origin;
    for (const IndexExpr& e : own) origin.push_back(at(e));
    for (Range& range : dma.region) range = {at(range.start), at(range.extent), range.max_extent};
    dma.buffer = BufferUse(dma.buffer.buffer, slot, origin == own ? std::vector<IndexExpr>() : std::move(origin));
    return dma;
  }

  void load_ahead(const Stmt& statement, const Dma& dma, const Load& load) {
    const Chain& chain = load.chain;
    const std::string note = statement.note.empty() ? "" : statement.note + ", ";
    put_first(dma, load, note + "of the first trip");

    const Substitution& next = next_trip(chain);
    Block guarded;
    for (const VarId variable : load.lets) guarded.push_back(made(Let{variable, with(lets_.at(variable), next, load)}));
    Dma ahead =
        moved(dma, chain.slot(slots_of(dma.buffer), 1), [&](const IndexExpr& e) { return with(e, next, load); });
    guarded.push_back(std::make_shared<const Stmt>(Stmt{statement.id, std::move(ahead), note + "of the next trip"}));
    const IndexExpr left = chain.loops.front().extent - next.at(chain.loops.front().variable);
    put(made(Guard{{left}, std::move(guarded)}));
  }

  /// Before the loops, unless there is no trip.
  void put_first(const Dma& dma, const Load& load, const std::string& note) {
    const Chain& chain = load.chain;
    StmtPtr first = made(moved(dma, 0,
                               [&](const IndexExpr& e) {
                                 return substitute(load.expanded(e),
                                                   [&](VarId v) { return chain.has(v) ? IndexExpr(0) : IndexExpr(v); });
                               }),
                         note);
    const IndexExpr& trips = chain.loops.front().extent;
    if (range_of(trips).low <= 0) first = made(Guard{{trips}, {std::move(first)}});
    put_into(chain.block, std::move(first));
  }

  /// An expression of the get in the next trip. Lets that move with it are of that trip already; others stay what they
  /// are unless they depend on the loops.
  [[nodiscard]] static IndexExpr with(const IndexExpr& e, const Substitution& next, const Load& load) {
    return substitute(e, [&](VarId v) -> IndexExpr {
      if (const auto found = next.find(v); found != next.end()) return found->second;
      const auto as = load.as.find(v);
      if (as == load.as.end() || load.only_here.contains(v)) return v;
      const std::set<VarId> made_of = variables_of(as->second);
      const bool moves = std::any_of(made_of.begin(), made_of.end(), [&](VarId w) { return load.chain.has(w); });
      if (!moves) return v;
      return substitute(as->second, [&](VarId w) {
        const auto found = next.find(w);
        return found == next.end() ? IndexExpr(w) : found->second;
      });
    });
  }

  /// What the loops' variables are in the next trip, under names where several loops count together.
  const Substitution& next_trip(const Chain& chain) {
    const auto [entry, is_new] = next_.try_emplace({chain.innermost(), chain.loops.front().variable});
    Substitution& next = entry->second;
    if (!is_new) return next;
    if (chain.loops.size() == 1) return next = {{chain.innermost(), IndexExpr(chain.innermost()) + 1}};
    std::set<VarId> wanted = {chain.loops.front().variable};
    for (const auto& [buffer, load] : overlap_.loads) {
      if (load.chain.innermost() == chain.innermost()) wanted.insert(load.moves_with.begin(), load.moves_with.end());
    }
    IndexExpr carry = 1;
    for (std::size_t l = chain.loops.size(); l-- > 0;) {
      const Loop& loop = chain.loops[l];
      const Interval range = nest().variables[loop.variable.index()].range;
      if (l > 0 && loop.extent.constant() == 1) {
        next[loop.variable] = 0;
        continue;
      }
      const IndexExpr number = IndexExpr(loop.variable) + carry;
      const IndexExpr value = l == 0 ? number : remainder(number, loop.extent.constant());
      if (l > 0) carry = floor_div(number, loop.extent.constant());
      if (!wanted.contains(loop.variable)) continue;
      const Interval values{0, l == 0 ? range.high + 1 : range.high};
      const std::string name = nest().variables[loop.variable.index()].name + "_next";
      next[loop.variable] = IndexExpr(add_let(name, value, values));
    }
    return next;
  }

  void waiting(const StmtPtr& statement, const Wait& wait) {
    const auto found = overlap_.transfers.find(wait.dma);
    if (found == overlap_.transfers.end()) return put(statement);
    const auto load = overlap_.loads.find(found->second);
    if (load == overlap_.loads.end()) return;  // of a store, which is awaited before its slot is written again
    put(with_node(*statement, Wait{-1, BufferUse(found->second, slot_.at(found->second))}));
    for (const StmtPtr& fill : load->second.padding) put(fill);
  }

  // --- stores --------------------------------------------------------------------------------------------------------

  /// What was put from the slot so many trips ago.
  void await_slot(int buffer, const Store& store) {
    const IndexExpr begun = store.chain.trip() + 1 - IndexExpr(slots_of(buffer));
    put(made(Guard{{begun}, {made(Wait{-1, BufferUse(buffer, slot_.at(buffer))})}}));
  }

  void left(const Stmt& statement) override {
    for (const auto& [buffer, store] : overlap_.stores) {
      if (store.chain.outermost != statement.id) continue;
      const IndexExpr trips = store.chain.trips();
      for (std::int64_t slot = 0; slot < slots_of(buffer); ++slot) {
        const IndexExpr used = trips - slot;
        const Interval range = range_of(used);
        if (range.high <= 0) break;
        StmtPtr wait = made(Wait{-1, BufferUse(buffer, slot)});
        put(range.low > 0 ? std::move(wait) : made(Guard{{used}, {std::move(wait)}}));
      }
    }
  }

  const Overlap& overlap_;
  std::map<int, IndexExpr> slot_;                         ///< by buffer: of the present trip
  std::map<VarId, IndexExpr> lets_;                       ///< as they are in the nest
  std::map<std::pair<VarId, VarId>, Substitution> next_;  ///< by innermost and outermost variable of a chain
};

}  // namespace

LoopNest double_buffer(LoopNest nest, const Target& /*target*/) {
  const bool any = std::any_of(nest.buffers.begin(), nest.buffers.end(), [](const Buffer& b) { return b.slots > 1; });
  if (!any) return nest;
  const Overlap overlap = Finder(nest).find();
  if (!overlap.any()) return nest;
  nest.body = without_moved_fills(nest, overlap);
  return DoubleBuffer(std::move(nest), overlap).run();
}

}  // namespace stowage
