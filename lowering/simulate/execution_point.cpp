// SPDX-License-Identifier: Apache-2.0
#include "lowering/simulate/execution_point.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "lowering/ir/compiled_index.h"
#include "lowering/ir/enclosing.h"
#include "lowering/ir/mesh.h"
#include "lowering/ir/sliding_windows.h"
#include "lowering/simulate/execution_cost.h"

namespace stowage {
namespace {

/// A core's way through its nest, until it has worked for so many cycles.
class Way {
 public:
  Way(const LoopNest& nest, const Target& target, int core)
      : nest_(nest), costs_(nest, target), core_(core), values_(values_of_core(nest, core)) {}

  /// `awaited`: the transfer that the core waits for then, if it does.
  ExecutionPoint after(std::int64_t busy, std::optional<StatementId> awaited) {
    left_ = busy;
    awaited_ = awaited;
    walk(nest_.body);
    return {found_, trips_};
  }

 private:
  [[nodiscard]] std::int64_t value(const IndexExpr& e) {
    if (e.is_constant()) return e.constant();
    const auto [known, is_new] = compiled_.try_emplace(&e);
    if (is_new) known->second = CompiledIndex(e, nest_.variables.size());
    return known->second(values_);
  }

  std::vector<std::int64_t> extents(const std::vector<Range>& box) {
    std::vector<std::int64_t> made;
    for (const Range& range : box) made.push_back(value(range.extent));
    return made;
  }

  /// Whether the place was found inside.
  bool walk(const Block& block) {
    return std::any_of(block.begin(), block.end(), [&](const StmtPtr& s) { return walk(*s); });
  }

  bool walk(const Stmt& s) {
    if (const auto* loop = std::get_if<Loop>(&s.node)) {
      const std::int64_t trips = value(loop->extent);
      for (std::int64_t trip = 0; trip < trips; ++trip) {
        values_[loop->variable.index()] = trips_[s.id] = trip;
        if (walk(loop->body)) return true;
      }
      return false;
    }
    if (const auto* let = std::get_if<Let>(&s.node)) {
      values_[let->variable.index()] = value(let->value);
      return false;
    }
    if (const auto* guard = std::get_if<Guard>(&s.node)) {
      const auto passes = [&](const IndexExpr& e) { return value(e) > 0; };
      return std::any_of(guard->any_positive.begin(), guard->any_positive.end(), passes) && walk(guard->body);
    }
    const std::int64_t cycles = cycles_of_work(s);
    const bool is_here = cycles > 0 ? left_ < cycles : left_ == 0 && waits_here(s);
    left_ -= cycles;
    if (is_here) found_ = s.id;
    return is_here;
  }

  std::int64_t cycles_of_work(const Stmt& s) {
    if (const auto* compute = std::get_if<Compute>(&s.node)) return costs_.compute_cycles(s, extents(compute->box));
    if (const auto* fill = std::get_if<Fill>(&s.node)) {
      return costs_.fill_cycles(s, fill->around ? extents(*fill->around) : std::vector<std::int64_t>());
    }
    const auto* dma = std::get_if<Dma>(&s.node);
    if (dma == nullptr || !moves_it(s)) return 0;
    const TransferExecution execution = costs_.transfer(s, extents(dma->region));
    return execution.operations == 0 ? 0 : execution.issue_cycles;
  }

  /// One core of a team moves for all of them.
  [[nodiscard]] bool moves_it(const Stmt& s) const {
    const std::optional<Space> team = team_of(s);
    return !team || is_first_of(nest_, *team, core_);
  }

  [[nodiscard]] bool waits_here(const Stmt& s) const {
    const auto* wait = std::get_if<Wait>(&s.node);
    if (wait == nullptr || !awaited_) return false;
    if (!wait->slot) return wait->dma == *awaited_;
    const Stmt* const transfer = find_statement(nest_, *awaited_);
    const auto* dma = transfer == nullptr ? nullptr : std::get_if<Dma>(&transfer->node);
    return dma != nullptr && dma->buffer.buffer == wait->slot->buffer;
  }

  const LoopNest& nest_;
  ExecutionCosts costs_;
  int core_;
  std::vector<std::int64_t> values_;
  std::map<const IndexExpr*, CompiledIndex> compiled_;
  std::map<StatementId, std::int64_t> trips_;
  std::int64_t left_ = 0;  ///< cycles of work
  std::optional<StatementId> awaited_;
  std::optional<StatementId> found_;
};

}  // namespace

ExecutionPoint execution_point(const LoopNest& nest, const Target& target, const TimelineTracks& tracks, int core,
                               std::int64_t cycle) {
  const TimelineTrack& track = tracks.groups[tracks.group_of(core)].core;
  const auto moment = track.at(cycle);
  if (moment ? moment->state == TrackState::launch : cycle < track.end()) return {};
  const TrackTotals totals = track.until(cycle);
  const std::int64_t busy =
      totals[static_cast<std::size_t>(TrackState::compute)] + totals[static_cast<std::size_t>(TrackState::issue)];
  const bool waits = moment && (moment->state == TrackState::wait_for_get || moment->state == TrackState::wait_for_put);
  const ComputedBoxes computed(nest);
  return Way(computed.nest(), target, core)
      .after(busy, waits ? std::optional<StatementId>(moment->statement) : std::nullopt);
}

}  // namespace stowage
