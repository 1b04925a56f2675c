// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/overlap.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "lowering/time/concurrent_transfers.h"

namespace stowage {
namespace {

/// A transfer that goes on while its loop computes.
struct Ahead {
  int statement = 0;
  int loop = 0;  ///< Stmt::id of the innermost one around it
  std::size_t depth = 0;
  DmaDirection direction = DmaDirection::get;
  Space to = Space::ldm;  ///< of a get
  double entries = 0;     ///< of the loops that its slots are counted along
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
      found.push_back({placed.statement->id, placed.loops.back()->id, placed.loops.size(), dma->direction, dma->to,
                       entries_of(placed, *dma)});
    }
    std::stable_sort(found.begin(), found.end(), [](const Ahead& a, const Ahead& b) { return a.depth > b.depth; });
    return found;
  }

  /// Statements inside of a loop.
  [[nodiscard]] std::set<int> inside(int loop) const {
    std::set<int> found;
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

  [[nodiscard]] static bool is_around(int loop, const Placed& placed) {
    return std::any_of(placed.loops.begin(), placed.loops.end(), [&](const Stmt* s) { return s->id == loop; });
  }

  /// Whether a wait for it follows in the same trip of its loop: for its statement, or for its slot; in a loop inside
  /// whatever slot that says.
  [[nodiscard]] bool is_awaited_in_trip(const Placed& transfer, const Dma& dma) const {
    if (nest_.buffers[dma.buffer].slots == 1) return true;
    const int loop = transfer.loops.back()->id;
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

/// Shares of steady trips: of the transfers, and of what is computed.
struct Steady {
  double moved = 0;
  double computed = 0;
};

Steady steady_of(const Ahead& ahead, double transfers) {
  if (transfers <= 0) return {};
  if (ahead.direction == DmaDirection::get) return {1, transfers / (transfers + ahead.entries)};
  const double share = std::max(0.0, (transfers - ahead.entries) / transfers);
  return {share, share};
}

/// Whether the calls of `other` are issued while `ahead` moves. One core issues those of what cores load together: what
/// others load for themselves moves meanwhile.
bool issues_beside(const Ahead& other, const Ahead& ahead) {
  if (other.statement == ahead.statement) return false;
  const bool by_another = other.to != Space::ldm && ahead.to == Space::ldm;
  return ahead.direction == DmaDirection::put || other.statement > ahead.statement || by_another;
}

/// Cycles in the loop of a transfer that goes on meanwhile.
struct Beside {
  double busy = 0;      ///< of the core: it computes, or issues calls
  double used = 0;      ///< of these, that hide transfers already
  double blocking = 0;  ///< of gets that the loop waits for, while its stores go on
};

Beside beside(const Ahead& ahead, const std::vector<Ahead>& all_ahead, const std::set<int>& inside,
              const CostTable& table, const std::map<int, std::int64_t>& hidden) {
  Beside found;
  for (const Cost& cost : table) {
    if (!cost.statement || !inside.contains(*cost.statement)) continue;
    const CostKind kind = kind_of(cost.formula);
    const auto cycles = static_cast<double>(cycles_of(cost.formula));
    if (kind == CostKind::compute || kind == CostKind::fill) found.busy += cycles;
    if (const auto before = hidden.find(*cost.statement); before != hidden.end())
      found.used += static_cast<double>(before->second);
    const auto other = std::find_if(all_ahead.begin(), all_ahead.end(),
                                    [&](const Ahead& each) { return each.statement == *cost.statement; });
    if (other == all_ahead.end()) {
      found.blocking += kind == CostKind::get ? cycles : 0;
    } else if (issues_beside(*other, ahead)) {
      found.busy += issuing_cycles(std::get<TransferCost>(cost.formula));
    }
  }
  return found;
}

}  // namespace

CostTable overlapped_costs(const LoopNest& nest, const NestCounts& counts, const Target& target) {
  CostTable table = with_concurrent_transfers(cost_table(nest, counts, target), nest);
  const bool any = std::any_of(nest.buffers.begin(), nest.buffers.end(), [](const Buffer& b) { return b.slots > 1; });
  if (!any) return table;
  const Finder finder(nest);
  const std::vector<Ahead> all_ahead = finder.find();
  std::map<int, std::int64_t> hidden;  // by statement
  for (const Ahead& ahead : all_ahead) {
    const auto row =
        std::find_if(table.begin(), table.end(), [&](const Cost& cost) { return cost.statement == ahead.statement; });
    const auto busiest = counts.dma_of_busiest_core.find(ahead.statement);
    if (row == table.end() || busiest == counts.dma_of_busiest_core.end()) continue;
    const Steady steady = steady_of(ahead, static_cast<double>(busiest->second.transfers));
    const Beside trips = beside(ahead, all_ahead, finder.inside(ahead.loop), table, hidden);
    // Its own calls hide nothing of it. A cycle less, so that no rounding hides more than there is.
    const double issued = issuing_cycles(std::get<TransferCost>(row->formula));
    double moved = (static_cast<double>(cycles_of(row->formula) - 1) - issued) * steady.moved;
    if (ahead.direction == DmaDirection::put) moved -= trips.blocking * steady.moved;
    const double most = std::min(moved, trips.busy * steady.computed - trips.used);
    hidden[ahead.statement] = static_cast<std::int64_t>(std::max(0.0, most));
  }
  for (Cost& cost : table) {
    const auto found = cost.statement ? hidden.find(*cost.statement) : hidden.end();
    auto* const transfer = std::get_if<TransferCost>(&cost.formula);
    if (found != hidden.end() && transfer != nullptr) transfer->hidden_cycles = found->second;
  }
  return table;
}

}  // namespace stowage
