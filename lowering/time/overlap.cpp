// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/overlap.h"

#include <algorithm>
#include <set>

#include "lowering/time/concurrent_transfers.h"
#include "lowering/time/mean_core.h"

namespace stowage {
namespace {

/// A transfer that goes on while its loop computes.
struct Ahead {
  StatementId statement;
  StatementId loop;  ///< of the innermost one around it
  DmaDirection direction = DmaDirection::get;
  double entries = 0;  ///< of a put: of the loops that its slots are counted along
};

struct Placed {
  const Stmt* statement = nullptr;
  std::vector<const Stmt*> loops;  ///< around it, outermost first
};

class Finder {
 public:
  explicit Finder(const LoopNest& nest) : nest_(nest) {
    std::vector<const Stmt*> loops;
    collect(nest.body, loops);
  }

  std::vector<Ahead> find() const {
    std::vector<Ahead> found;
    for (const Placed& placed : all_) {
      const auto* dma = std::get_if<Dma>(&placed.statement->node);
      if (dma == nullptr || placed.loops.empty() || is_awaited_in_trip(placed, *dma)) continue;
      found.push_back({placed.statement->id, placed.loops.back()->id, dma->direction, entries_of(placed, *dma)});
    }
    return found;
  }

  /// Statements inside of a loop.
  [[nodiscard]] std::set<StatementId> inside(StatementId loop) const {
    std::set<StatementId> found;
    for (const Placed& placed : all_) {
      if (is_around(loop, placed)) found.insert(placed.statement->id);
    }
    return found;
  }

 private:
  void collect(const Block& block, std::vector<const Stmt*>& loops) {
    for (const StmtPtr& s : block) {
      all_.push_back({s.get(), loops});
      const Block* const body = body_of(*s);
      if (body == nullptr) continue;
      const bool is_loop = std::holds_alternative<Loop>(s->node);
      if (is_loop) loops.push_back(s.get());
      collect(*body, loops);
      if (is_loop) loops.pop_back();
    }
  }

  [[nodiscard]] static bool is_around(StatementId loop, const Placed& placed) {
    return std::any_of(placed.loops.begin(), placed.loops.end(), [&](const Stmt* s) { return s->id == loop; });
  }

  /// Whether a wait for it follows in the same trip of its loop: for its statement, or for its slot; in a loop inside
  /// whatever slot that says.
  [[nodiscard]] bool is_awaited_in_trip(const Placed& transfer, const Dma& dma) const {
    if (nest_.buffers[dma.buffer].slots == 1) return true;
    const StatementId loop = transfer.loops.back()->id;
    return std::any_of(all_.begin(), all_.end(), [&](const Placed& placed) {
      const auto* wait = std::get_if<Wait>(&placed.statement->node);
      if (wait == nullptr || placed.statement->id < transfer.statement->id || !is_around(loop, placed)) return false;
      if (!wait->slot) return wait->dma == transfer.statement->id;
      const bool same_trip = placed.loops.back()->id != loop || wait->slot->slot == dma.buffer.slot;
      return wait->slot->buffer == dma.buffer && same_trip;
    });
  }

  /// How often the loops are entered that the slots of a transfer are counted along: where their first load stands, or
  /// the wait for their last store.
  [[nodiscard]] double entries_of(const Placed& transfer, const Dma& dma) const {
    for (const Placed& placed : all_) {
      if (is_around(transfer.loops.back()->id, placed)) continue;
      const auto* other = std::get_if<Dma>(&placed.statement->node);
      const auto* wait = std::get_if<Wait>(&placed.statement->node);
      const bool first = dma.direction == DmaDirection::get && other != nullptr && other->buffer.buffer == dma.buffer;
      const bool last =
          dma.direction == DmaDirection::put && wait != nullptr && wait->slot && wait->slot->buffer == dma.buffer;
      if (!first && !last) continue;
      double entries = 1;
      for (const Stmt* loop : placed.loops) {
        const VarId variable = std::get<Loop>(loop->node).variable;
        entries *= static_cast<double>(nest_.variables[variable.index()].range.high + 1);
      }
      return entries;
    }
    return 0;
  }

  const LoopNest& nest_;
  std::vector<Placed> all_;  ///< in program order
};

/// What of a transfer may be hidden at most.
struct Hideable {
  StatementId statement;
  CostId row;
  double most = 0;
  double exposed = 0;  ///< for which a core waits
  double hidden = 0;
};

/// Cycles of gets inside of a transfer's loop that the loop waits for.
double blocking_cycles(const std::vector<Ahead>& all_ahead, const std::set<StatementId>& inside,
                       const CostTable& table) {
  double blocking = 0;
  for (const Cost& cost : table) {
    if (!cost.statement || !inside.contains(*cost.statement) || kind_of(cost.formula) != CostKind::get) continue;
    const bool is_ahead = std::any_of(all_ahead.begin(), all_ahead.end(),
                                      [&](const Ahead& each) { return each.statement == *cost.statement; });
    if (!is_ahead) blocking += static_cast<double>(cycles_of(cost.formula));
  }
  return blocking;
}

/// All that starts and moves of it, but for its calls, and of a store that of the last trips, of the very last one the
/// share `last`, and what it moves beside gets that its loop waits for.
double most_hidden(const Ahead& ahead, const TransferCost& cost, std::int64_t cycles, double blocking, double last) {
  // Its own calls hide nothing of it. A cycle less, so that no rounding hides more than there is.
  const double moved = static_cast<double>(cycles - 1) - issuing_cycles(cost);
  if (ahead.direction == DmaDirection::get) return std::max(0.0, moved);
  const auto transfers = static_cast<double>(cost.transfers_of_busiest);
  const double exposed = std::max(0.0, ahead.entries - (1 - last));
  const double steady = transfers > 0 ? std::max(0.0, (transfers - exposed) / transfers) : 0;
  return std::max(0.0, (moved - blocking) * steady);
}

/// Gives out what is hidden in all: to each transfer what no core waits for; what waits for others have taken besides,
/// or left, in the shares of what each has still.
void give_out(std::vector<Hideable>& transfers, double hidden_in_all) {
  double given = 0;
  double room = 0;
  for (Hideable& one : transfers) {
    one.hidden = std::clamp(one.most - one.exposed, 0.0, one.most);
    given += one.hidden;
    room += one.most - one.hidden;
  }
  const double wanted = std::clamp(hidden_in_all, 0.0, given + room);
  for (Hideable& one : transfers) {
    if (wanted < given) {
      one.hidden *= wanted / given;
    } else if (room > 0) {
      one.hidden += (one.most - one.hidden) * (wanted - given) / room;
    }
  }
}

/// All that they may pass beside: computations, fills, and their own calls and start-up, one of another.
double passes_beside(const CostTable& table, const std::vector<Hideable>& ahead) {
  double busy = 0;
  for (const Cost& cost : table) {
    const CostKind kind = kind_of(cost.formula);
    if (kind == CostKind::compute || kind == CostKind::fill) busy += static_cast<double>(cycles_of(cost.formula));
  }
  for (const Hideable& one : ahead) {
    const auto& cost = std::get<TransferCost>(table[one.row].formula);
    busy += issuing_cycles(cost) + static_cast<double>(cost.transfers_of_busiest) * cost.startup_cycles;
  }
  return busy;
}

}  // namespace

CostTable overlapped_costs(const LoopNest& nest, const NestCounts& counts, const Target& target) {
  return overlapped_costs(nest, counts, target, {});
}

CostTable overlapped_costs(const LoopNest& nest, const NestCounts& counts, const Target& target,
                           const GoesOn& goes_on) {
  const CoreCosts cores = core_costs(nest, counts.compute, counts.fill, target);
  CostTable table = with_concurrent_transfers(cost_table(nest, counts, cores, target), nest);
  const bool any = std::any_of(nest.buffers.begin(), nest.buffers.end(), [](const Buffer& b) { return b.slots > 1; });
  if (!any) return table;
  const Finder finder(nest);
  const std::vector<Ahead> all_ahead = finder.find();
  std::vector<Hideable> transfers;
  std::vector<double> blocking;  // by transfer
  std::vector<const Ahead*> ahead_of;
  for (const Ahead& ahead : all_ahead) {
    const auto row =
        std::find_if(table.begin(), table.end(), [&](const Cost& cost) { return cost.statement == ahead.statement; });
    if (row == table.end() || !counts.dma_of_busiest_core.contains(ahead.statement)) continue;
    blocking.push_back(
        ahead.direction == DmaDirection::put ? blocking_cycles(all_ahead, finder.inside(ahead.loop), table) : 0);
    transfers.push_back({ahead.statement, table.id_of(*row), 0});
    ahead_of.push_back(&ahead);
  }
  if (transfers.empty()) return table;
  const double passes = passes_beside(table, transfers);
  const auto set_most = [&](double last) {
    double sum = 0;
    for (std::size_t t = 0; t < transfers.size(); ++t) {
      const CostFormula& formula = table[transfers[t].row].formula;
      transfers[t].most =
          most_hidden(*ahead_of[t], std::get<TransferCost>(formula), cycles_of(formula), blocking[t], last);
      sum += transfers[t].most;
    }
    return sum;
  };
  // The less of the very last store is waited for, the more is hidden.
  const double hidden_at_most = std::min(set_most(0), passes);
  if (goes_on && !goes_on(table, static_cast<std::int64_t>(std::max(0.0, hidden_at_most)) + 1)) return table;
  const MeanWaits waits = mean_waits(nest, counts, cores, table);
  set_most(waits.last);
  double in_all = 0;  // of transfers without their calls: what no core waits for is hidden
  for (const CostId row : table.ids()) {
    const auto* const transfer = std::get_if<TransferCost>(&table[row].formula);
    if (transfer != nullptr)
      in_all += static_cast<double>(cycles_of(*transfer)) - issuing_cycles(*transfer) - waits.of_row[row];
  }
  for (Hideable& one : transfers) one.exposed = waits.of_row[one.row];
  give_out(transfers, std::min(in_all, passes));
  for (const Hideable& one : transfers)
    std::get<TransferCost>(table[one.row].formula).hidden_cycles = static_cast<std::int64_t>(one.hidden);
  return table;
}

}  // namespace stowage
