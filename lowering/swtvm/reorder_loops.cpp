// SPDX-License-Identifier: Apache-2.0
// Algorithm 2: the order of the outer loops.
#include <algorithm>
#include <optional>

#include "core/check.h"
#include "lowering/model/group_trace.h"
#include "lowering/swtvm/swtvm.h"

namespace stowage {
namespace {

/// What a loop as the innermost one costs. A point of an intermediate that is computed again takes its whole reduction
/// again, so operations inside the group come first; of a single stage there are none.
struct InnermostCost {
  std::int64_t operations = 0;
  std::int64_t transfers = 0;
  friend auto operator<=>(const InnermostCost&, const InnermostCost&) = default;
};

/// Loops while they are put in order, from the innermost outwards.
class LoopsLeft {
 public:
  LoopsLeft(const GroupModel& model, const std::vector<OuterLoop>& loops, const Residents& residents)
      : model_(model), loops_(loops), assigned_(loops.size(), false), placed_(model.buffers.size(), false) {
    for (const BufferId b : model.buffers.ids()) {
      moving_.push_back(residents.moving(model, b));
      std::set<IteratorId> stays = model.buffers[b].moved_by;
      for (const IteratorId iterator : moving_.back()) stays.erase(iterator);
      staying_.push_back(std::move(stays));
    }
  }

  /// Constraint 2 of version 2: the output's iterators stay outside of the reductions. And what earlier stages store
  /// is stored once.
  [[nodiscard]] bool belongs_outside(std::size_t loop) const {
    if (!is_spatial(loop)) return false;
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      if (is_left(l) && (!is_spatial(l) || rank_of(l) > rank_of(loop))) return true;
    }
    return false;
  }

  [[nodiscard]] bool is_left(std::size_t loop) const { return !assigned_[loop]; }
  [[nodiscard]] bool is_spatial(std::size_t loop) const { return iterator_of(loop).spatial; }

  /// Transfers of the tensors not yet placed if `candidate` is the innermost of the loops that are left; of an
  /// intermediate, which is not transferred, how often it is computed.
  [[nodiscard]] std::vector<BufferCount> counts_inside(std::size_t candidate) const {
    std::vector<BufferCount> counts;
    for (const BufferId b : model_.buffers.ids()) {
      if (placed_[b]) continue;
      const ModelBuffer& buffer = model_.buffers[b];
      // The main stage is computed once, and so is its tail, whatever the order.
      const bool behind_main = buffer.stage == model_.main || model_.in_tail[buffer.stage];
      const bool computed = buffer.kind == ModelBuffer::Kind::intermediate;
      if ((computed && behind_main) || buffer.is_received) continue;
      const std::set<IteratorId>& iterators = moving_[b];
      std::int64_t count = 1;
      for (std::size_t l = 0; l < loops_.size(); ++l) {
        if (assigned_[l]) continue;
        // Loops of other stages do not stand around this one's transfers; an output is not moved inside a reduction
        // unless the reduction were outside of it, which is what makes such an order expensive.
        const ModelIterator& iterator = iterator_of(l);
        const bool around = iterator.spatial || iterator.stage == buffer.stage || iterator.stage == model_.main;
        if (!around) continue;
        if (l == candidate && !iterators.contains(loops_[l].iterator)) continue;
        if (staying_[b].contains(loops_[l].iterator)) continue;
        count *= loops_[l].trips;
      }
      counts.push_back({BufferId(b), computed, count});
    }
    return counts;
  }

  [[nodiscard]] InnermostCost cost_of(const std::vector<BufferCount>& counts, const IteratorSizes& sizes) const {
    InnermostCost cost;
    for (const BufferCount& each : counts) {
      if (each.computed) {
        cost.operations += each.count * stage_operations(model_, model_.buffers[each.buffer].stage, sizes);
      } else {
        cost.transfers += each.count;
      }
    }
    return cost;
  }

  void assign(std::size_t loop) {
    assigned_[loop] = true;
    for (const BufferId b : placed_.ids()) {
      placed_[b] = placed_[b] || moving_[b].contains(loops_[loop].iterator);
    }
  }

 private:
  [[nodiscard]] int rank_of(std::size_t loop) const { return ranks_[loops_[loop].iterator]; }
  [[nodiscard]] const ModelIterator& iterator_of(std::size_t loop) const {
    return model_.iterators[loops_[loop].iterator];
  }

  const GroupModel& model_;
  const std::vector<OuterLoop>& loops_;
  IdVector<IteratorId, int> ranks_ = ranks_of_stores(model_);
  std::vector<bool> assigned_;
  IdVector<BufferId, bool> placed_;                   ///< buffers whose transfers stand inside a loop that is assigned
  IdVector<BufferId, std::set<IteratorId>> moving_;   ///< iterators whose loops move it
  IdVector<BufferId, std::set<IteratorId>> staying_;  ///< its other ones, along which it is resident
};

}  // namespace

std::vector<OuterLoop> reorder_loops(const GroupModel& model, const std::vector<OuterLoop>& loops,
                                     const IteratorSizes& sizes, const GroupTrace& trace, const Residents& residents) {
  LoopsLeft left(model, loops, residents);
  std::vector<OuterLoop> inner_to_outer;
  while (inner_to_outer.size() < loops.size()) {
    std::optional<std::size_t> chosen;
    InnermostCost chosen_cost;
    std::optional<std::size_t> refused;
    InnermostCost refused_cost;
    for (std::size_t l = 0; l < loops.size(); ++l) {
      if (!left.is_left(l)) continue;
      std::vector<BufferCount> counts = left.counts_inside(l);
      const InnermostCost cost = left.cost_of(counts, sizes);
      const bool barred = left.belongs_outside(l);
      if (trace.listening()) {
        trace.add(LoopTried{traced(model, loops[l]), std::move(counts), cost.operations, cost.transfers, barred});
      }
      if (barred) {
        if (!refused || cost < refused_cost) {
          refused = l;
          refused_cost = cost;
        }
      } else if (!chosen || cost <= chosen_cost) {  // <= keeps the original order among equals
        chosen = l;
        chosen_cost = cost;
      }
    }
    check(chosen.has_value(), "no loop left to choose");
    if (refused && refused_cost < chosen_cost) {
      trace.add(LoopBarred{traced(model, loops[*refused]), refused_cost.operations, refused_cost.transfers});
    }
    left.assign(*chosen);
    trace.add(LoopPlaced{traced(model, loops[*chosen]), chosen_cost.operations, chosen_cost.transfers});
    inner_to_outer.push_back(loops[*chosen]);
  }
  std::reverse(inner_to_outer.begin(), inner_to_outer.end());
  if (trace.listening()) {
    LoopsOrdered ordered;
    for (const OuterLoop& loop : inner_to_outer) ordered.loops.push_back(traced(model, loop));
    trace.add(std::move(ordered));
  }
  return inner_to_outer;
}

}  // namespace stowage
