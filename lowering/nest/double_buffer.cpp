// SPDX-License-Identifier: Apache-2.0
// Buffers of several slots are moved while something else is computed.
//
// Of an input of two slots, the first trip's box is loaded before the loops, and every trip starts to load the next
// one's into the next slot when it has what it waits for itself, so that the two do not share the bandwidth. Of n
// slots, the boxes of the first n - 1 trips are loaded before the loops, and every trip starts to load that of the trip
// n - 1 behind it, into the slot that the trip before has left: long trips load ahead for short ones. Of an output, a
// trip's result is stored while the next trips compute into other slots; before a slot is written again its store is
// awaited, and behind the loops those that are left.
//
// Trips are counted along all loops around the transfer whose trip counts are known, so that the last trip of an inner
// loop loads what the first one of the next outer trip needs. Where that would make the verifier follow too many trips,
// the outer loops are left out: then each entry of the others begins with a load that nothing hides.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "lowering/ir/rewrite.h"
#include "lowering/nest/overlap_sites.h"
#include "lowering/nest/passes.h"

namespace stowage {
namespace {

/// Without the fills that move behind waits, and the guards that nothing else stood in.
Block without_moved_fills(const LoopNest& nest, const Overlap& overlap) {
  std::set<StatementId> gone;
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
      for (const BufferId over : store.buffers) slot_[over] = store.chain.slot(slots_of(buffer), 0);
    }
    visit_statements(nest().body, [&](const Stmt& s) {
      if (const auto* let = std::get_if<Let>(&s.node)) lets_[let->variable] = let->value;
    });
  }

 private:
  using Substitution = std::map<VarId, IndexExpr>;

  [[nodiscard]] std::int64_t slots_of(BufferId buffer) const { return nest().buffers[buffer].slots; }

  void visit(const StmtPtr& statement) override {
    if (is_dropped(*statement)) return;
    const auto found = overlap_.transfers.find(statement->id);
    const bool loads = found != overlap_.transfers.end() && overlap_.loads.contains(found->second);
    if (loads) return load_ahead(*statement, std::get<Dma>(statement->node), overlap_.loads.at(found->second));
    if (!may_precede_loads(*statement)) put_loads();
    for (const auto& [buffer, store] : overlap_.stores) {
      if (store.first == statement->id) await_slot(buffer, store);
    }
    const auto* wait = std::get_if<Wait>(&statement->node);
    if (wait != nullptr && !wait->slot) return waiting(statement, *wait);
    put(in_slots(statement));
  }

  void entering(const Stmt& /*statement*/) override { put_loads(); }
  void ending() override { put_loads(); }

  /// What a trip needs before it computes comes before what the next one needs.
  [[nodiscard]] static bool may_precede_loads(const Stmt& statement) {
    const auto* dma = std::get_if<Dma>(&statement.node);
    return std::holds_alternative<Wait>(statement.node) || std::holds_alternative<Let>(statement.node) ||
           (dma != nullptr && dma->direction == DmaDirection::get);
  }

  /// Lets that move with a get.
  [[nodiscard]] bool is_dropped(const Stmt& statement) const {
    const auto* let = std::get_if<Let>(&statement.node);
    return let != nullptr && std::any_of(overlap_.loads.begin(), overlap_.loads.end(), [&](const auto& load) {
             return load.second.only_here.contains(let->variable);
           });
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
    const std::vector<IndexExpr>& own = nest().buffers[dma.buffer].origin;
    std::vector<IndexExpr> origin;
    for (const IndexExpr& e : own) origin.push_back(at(e));
    for (Range& range : dma.region) range = {at(range.start), at(range.extent), range.max_extent};
    dma.buffer = BufferUse(dma.buffer.buffer, slot, origin == own ? std::vector<IndexExpr>() : std::move(origin));
    return dma;
  }

  void load_ahead(const Stmt& statement, const Dma& dma, const Load& load) {
    const TripChain& chain = load.chain;
    const std::string note = statement.note.empty() ? "" : statement.note + ", ";
    const std::int64_t ahead = slots_of(dma.buffer) - 1;
    for (std::int64_t trip = 0; trip < ahead; ++trip) put_first(dma, load, trip, note + of_first(trip));

    const Substitution& next = trip_ahead(chain, ahead);
    const IndexExpr left = chain.loops.front().extent - next.at(chain.loops.front().variable);
    if (loads_.empty() || !(loads_.back().first == left)) loads_.emplace_back(left, Block{});
    Block& guarded = loads_.back().second;
    for (const VarId variable : load.lets) guarded.push_back(made(Let{variable, with(lets_.at(variable), next, load)}));
    Dma get =
        moved(dma, chain.slot(slots_of(dma.buffer), ahead), [&](const IndexExpr& e) { return with(e, next, load); });
    guarded.push_back(std::make_shared<const Stmt>(
        Stmt{statement.id, std::move(get),
             note + (ahead == 1 ? "of the next trip" : fmt::format("{} trips ahead", ahead))}));
  }

  [[nodiscard]] static std::string of_first(std::int64_t trip) {
    return trip == 0 ? "of the first trip" : fmt::format("of trip {}", trip);
  }

  /// The gets of a trip to come that were met one after the other, unless there is none; then the padding of what was
  /// waited for.
  void put_loads() {
    for (auto& [left, loads] : loads_) put(made(Guard{{left}, std::move(loads)}));
    loads_.clear();
    for (const StmtPtr& fill : padding_) put(fill);
    padding_.clear();
  }

  /// A trip's get before the loops, unless there is no such trip.
  void put_first(const Dma& dma, const Load& load, std::int64_t trip, const std::string& note) {
    const TripChain& chain = load.chain;
    const IndexExpr left = trip == 0 ? chain.loops.front().extent : chain.trips() - trip;
    if (range_of(left).high <= 0) return;
    const std::map<VarId, std::int64_t> at = chain.at(trip);
    const auto in_trip = [&](VarId v) {
      const auto found = at.find(v);
      return found == at.end() ? IndexExpr(v) : IndexExpr(found->second);
    };
    StmtPtr first =
        made(moved(dma, trip, [&](const IndexExpr& e) { return substitute(load.inside.expanded(e), in_trip); }), note);
    if (range_of(left).low <= 0) first = made(Guard{{left}, {std::move(first)}});
    put_into(chain.block, std::move(first));
  }

  /// An expression of the get in a trip to come. Lets that move with it are of that trip already; others stay what they
  /// are unless they depend on the loops.
  [[nodiscard]] static IndexExpr with(const IndexExpr& e, const Substitution& next, const Load& load) {
    return substitute(e, [&](VarId v) -> IndexExpr {
      if (const auto found = next.find(v); found != next.end()) return found->second;
      const IndexExpr* const value = load.inside.find(v);
      if (value == nullptr || load.only_here.contains(v)) return v;
      const std::set<VarId> made_of = variables_of(*value);
      const bool moves = std::any_of(made_of.begin(), made_of.end(), [&](VarId w) { return load.chain.has(w); });
      if (!moves) return v;
      return substitute(*value, [&](VarId w) {
        const auto found = next.find(w);
        return found == next.end() ? IndexExpr(w) : found->second;
      });
    });
  }

  /// What the loops' variables are so many trips ahead, under names where several loops count together.
  const Substitution& trip_ahead(const TripChain& chain, std::int64_t ahead) {
    const auto [entry, is_new] = next_.try_emplace({chain.innermost(), chain.loops.front().variable, ahead});
    Substitution& next = entry->second;
    if (!is_new) return next;
    next = chain.ahead(ahead);
    if (chain.loops.size() == 1) return next;
    std::set<VarId> wanted = {chain.loops.front().variable};
    for (const auto& [buffer, load] : overlap_.loads) {
      if (load.chain.innermost() == chain.innermost()) wanted.insert(load.moves_with.begin(), load.moves_with.end());
    }
    for (std::size_t l = chain.loops.size(); l-- > 0;) {
      const VarId variable = chain.loops[l].variable;
      if (!wanted.contains(variable) || needs_no_name(next.at(variable))) continue;
      const NestVariable& counted = nest().variables[variable.index()];
      const std::int64_t more = (chain.trips_inside(0) - 1 + ahead) / chain.trips_inside(0);  // trips of the outermost
      const Interval values{0, l == 0 ? counted.range.high + more : counted.range.high};
      next[variable] = IndexExpr(add_let(counted.name + (ahead == 1 ? "_next" : "_ahead"), next.at(variable), values));
    }
    return next;
  }

  void waiting(const StmtPtr& statement, const Wait& wait) {
    if (!wait.dma) return put(statement);
    const auto found = overlap_.transfers.find(*wait.dma);
    if (found == overlap_.transfers.end()) return put(statement);
    const auto load = overlap_.loads.find(found->second);
    if (load == overlap_.loads.end()) return;  // of a store, which is awaited before its slot is written again
    put(with_node(*statement, Wait{std::nullopt, BufferUse(found->second, slot_.at(found->second))}));
    padding_.insert(padding_.end(), load->second.padding.begin(), load->second.padding.end());
  }

  // --- stores --------------------------------------------------------------------------------------------------------

  /// What was put from the slot so many trips ago.
  void await_slot(BufferId buffer, const Store& store) {
    const IndexExpr begun = store.chain.trip() + 1 - IndexExpr(slots_of(buffer));
    put(made(Guard{{begun}, {made(Wait{std::nullopt, BufferUse(buffer, slot_.at(buffer))})}}));
  }

  void left(const Stmt& statement) override {
    for (const auto& [buffer, store] : overlap_.stores) {
      if (store.chain.outermost != statement.id) continue;
      const IndexExpr trips = store.chain.trips();
      for (std::int64_t slot = 0; slot < slots_of(buffer); ++slot) {
        const IndexExpr used = trips - slot;
        const Interval range = range_of(used);
        if (range.high <= 0) break;
        StmtPtr wait = made(Wait{std::nullopt, BufferUse(buffer, slot)});
        put(range.low > 0 ? std::move(wait) : made(Guard{{used}, {std::move(wait)}}));
      }
    }
  }

  const Overlap& overlap_;
  std::map<BufferId, IndexExpr> slot_;              ///< of the present trip
  std::map<VarId, IndexExpr> lets_;                 ///< as they are in the nest
  std::vector<std::pair<IndexExpr, Block>> loads_;  ///< not put yet, with what has to be positive for them
  std::vector<StmtPtr> padding_;                    ///< not put yet
  /// By innermost and outermost variable of a chain, and trips ahead.
  std::map<std::tuple<VarId, VarId, std::int64_t>, Substitution> next_;
};

}  // namespace

LoopNest double_buffer(LoopNest nest, const Target& /*target*/) {
  const bool any = std::any_of(nest.buffers.begin(), nest.buffers.end(), [](const Buffer& b) { return b.slots > 1; });
  if (!any) return nest;
  const Overlap overlap = find_overlap(nest);
  if (!overlap.any()) return nest;
  nest.body = without_moved_fills(nest, overlap);
  return DoubleBuffer(std::move(nest), overlap).run();
}

}  // namespace stowage
