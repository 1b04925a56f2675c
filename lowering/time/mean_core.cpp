// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/mean_core.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "core/index.h"
#include "lowering/ir/compiled_index.h"
#include "lowering/ir/enclosing.h"
#include "lowering/ir/sliding_windows.h"
#include "lowering/ir/team_barriers.h"
#include "lowering/time/mean_engine.h"

namespace stowage {
namespace {

/// Trips of a loop that are followed before the mean of the last ones stands for the others.
constexpr std::int64_t followed_trips = 12;
constexpr std::int64_t mean_of_trips = 6;
/// Statements of a nest that are executed; then the trip before stands for the others of a loop.
constexpr int most_executed = 1'500;
/// Cycles by which trips that repeat may differ.
constexpr double rounding = 0.01;

/// A statement with what one execution takes.
struct Walked {
  enum class Kind : std::uint8_t { work, transfer, await_row, await_slot, let, guard, loop };
  Kind kind = Kind::work;
  double cycles = 0;  ///< work: of the core; others: of the barrier before a transfer or behind a wait
  std::optional<std::size_t> slides_along;  ///< work: variable of the loop whose first trip takes longer
  double first = 0;                         ///< work: the cycles of that one
  double issue = 0;                         ///< transfer: cycles of its calls
  double startup = 0;
  bool of_team = false;                ///< transfer: one core's for several
  MeanTransfer transfer;               ///< transfer
  std::size_t row = 0;                 ///< await_row
  SlotId first_slot;                   ///< transfer, await_slot: of the buffer
  CompiledIndex value;                 ///< transfer, await_slot: the slot; let: its value
  std::size_t variable = 0;            ///< let, loop
  std::vector<CompiledIndex> guarded;  ///< guard that decides whether something is transferred
  std::int64_t trips = 0;              ///< loop
  std::vector<Walked> body;
};

/// Makes a nest ready to be walked.
class Preparer {
 public:
  Preparer(const LoopNest& nest, const NestCounts& counts, const CostTable& table)
      : nest_(nest), counts_(counts), table_(table), marked_(sliding_windows(nest)) {
    for (std::size_t row = 0; row < table.size(); ++row) {
      if (!table[row].statement) continue;
      const CostKind kind = kind_of(table[row].formula);
      const bool is_barrier = kind == CostKind::barrier || kind == CostKind::broadcast;
      (is_barrier ? barrier_row_ : row_)[*table[row].statement] = row;
    }
    if (!barrier_row_.empty()) barriers_ = team_barriers(nest);
    for (const SlidingWindow& window : marked_) {
      windows_.emplace(window.chain.sum->id, &window);
      for (const Stmt* end : window.chain.ends) windows_.emplace(end->id, &window);
    }
    SlotId next_slot;
    for (const Buffer& buffer : nest.buffers) {
      first_slot_.push_back(next_slot);
      next_slot = SlotId(next_slot.index() + at(buffer.slots));
    }
    find_needed(nest.body);
    visit_statements(nest.body, [&](const Stmt& s) {
      const auto* dma = std::get_if<Dma>(&s.node);
      const auto row = row_.find(s.id);
      if (dma == nullptr || dma->direction != DmaDirection::get || row == row_.end()) return;
      const auto& cost = std::get<TransferCost>(table[row->second].formula);
      transfers_into_[dma->buffer] += static_cast<double>(cost.transfers_of_busiest);
    });
  }

  std::vector<Walked> run() const { return prepared(nest_.body, 1); }

 private:
  void need(const IndexExpr& e) {
    for (const VarId v : variables_of(e)) needed_.insert(v.index());
  }

  [[nodiscard]] static bool has_transfer(const Block& block) {
    bool found = false;
    visit_statements(block, [&](const Stmt& s) { found = found || std::holds_alternative<Dma>(s.node); });
    return found;
  }

  /// Variables that slots and guards of transfers ask for; from the last statement to the first, as lets stand before
  /// what uses them.
  void find_needed(const Block& block) {
    for (auto s = block.rbegin(); s != block.rend(); ++s) {
      const Stmt& statement = **s;
      if (const Block* body = body_of(statement)) find_needed(*body);
      if (const auto* dma = std::get_if<Dma>(&statement.node)) need(dma->buffer.slot);
      if (const auto* wait = std::get_if<Wait>(&statement.node); wait != nullptr && wait->slot) need(wait->slot->slot);
      if (const auto* guard = std::get_if<Guard>(&statement.node); guard != nullptr && has_transfer(guard->body)) {
        for (const IndexExpr& e : guard->any_positive) need(e);
      }
      if (const auto* let = std::get_if<Let>(&statement.node);
          let != nullptr && needed_.contains(let->variable.index()))
        need(let->value);
    }
  }

  [[nodiscard]] CompiledIndex compiled(const IndexExpr& e) const { return CompiledIndex(e, nest_.variables.size()); }

  [[nodiscard]] double barrier_cycles_at(StatementId statement) const {
    const auto row = barrier_row_.find(statement);
    if (row == barrier_row_.end()) return 0;
    const std::int64_t executions = counts_.barriers.at(statement);
    return executions == 0 ? 0 : meeting_cycles(table_[row->second].formula) / static_cast<double>(executions);
  }

  [[nodiscard]] std::vector<Walked> prepared(const Block& block, double executions) const {
    std::vector<Walked> made;
    for (const StmtPtr& s : block) {
      Walked walked = prepared(*s, executions);
      const bool does_nothing = walked.kind == Walked::Kind::work && walked.cycles <= 0;
      if (does_nothing) continue;
      if (walked.kind == Walked::Kind::work && !made.empty() && made.back().kind == Walked::Kind::work &&
          walked.slides_along == made.back().slides_along) {
        made.back().cycles += walked.cycles;
        made.back().first += walked.first;
        continue;
      }
      made.push_back(std::move(walked));
    }
    return made;
  }

  /// Work in all trips of a loop.
  [[nodiscard]] static Walked repeated(const Walked& work, std::size_t variable, std::int64_t trips) {
    Walked all = work;
    const auto times = static_cast<double>(trips);
    if (work.slides_along == variable) {
      all.cycles = work.first + (times - 1) * work.cycles;
      all.slides_along.reset();
      all.first = 0;
    } else {
      all.cycles *= times;
      all.first *= times;
    }
    return all;
  }

  /// Work of no cycles where there is nothing to do.
  [[nodiscard]] Walked prepared(const Stmt& statement, double executions) const {
    Walked walked;
    if (const auto* loop = std::get_if<Loop>(&statement.node)) {
      walked.trips = nest_.variables[loop->variable.index()].range.high + 1;
      walked.variable = loop->variable.index();
      walked.body = prepared(loop->body, executions * static_cast<double>(std::max<std::int64_t>(1, walked.trips)));
      const bool only_works =
          walked.body.empty() || (walked.body.size() == 1 && walked.body[0].kind == Walked::Kind::work);
      walked.kind = only_works ? Walked::Kind::work : Walked::Kind::loop;
      if (only_works && !walked.body.empty()) walked = repeated(walked.body[0], walked.variable, walked.trips);
    } else if (const auto* guard = std::get_if<Guard>(&statement.node)) {
      walked.kind = Walked::Kind::guard;
      walked.body = prepared(guard->body, executions);
      if (has_transfer(guard->body)) {
        for (const IndexExpr& e : guard->any_positive) walked.guarded.push_back(compiled(e));
      } else if (walked.body.empty() || (walked.body.size() == 1 && walked.body[0].kind == Walked::Kind::work)) {
        // What is done in some trips only is done in all of them, by its mean.
        walked = walked.body.empty() ? Walked() : Walked(walked.body[0]);
      }
    } else if (const auto* let = std::get_if<Let>(&statement.node)) {
      if (!needed_.contains(let->variable.index())) return walked;
      walked.kind = Walked::Kind::let;
      walked.variable = let->variable.index();
      walked.value = compiled(let->value);
    } else if (const auto* wait = std::get_if<Wait>(&statement.node)) {
      walked.cycles = barrier_cycles_at(statement.id);
      if (barriers_.awaits_broadcast(statement.id)) return walked;
      walked.kind = wait->slot ? Walked::Kind::await_slot : Walked::Kind::await_row;
      if (wait->slot) {
        walked.first_slot = first_slot_[wait->slot->buffer];
        walked.value = compiled(wait->slot->slot);
      } else {
        walked.row = row_.at(*wait->dma);
      }
    } else if (const auto* dma = std::get_if<Dma>(&statement.node)) {
      prepare(walked, *dma, statement.id, executions);
    } else if (const auto row = row_.find(statement.id); row != row_.end()) {
      walked.cycles = static_cast<double>(cycles_of(table_[row->second].formula)) / executions;
      slide(walked, statement.id);
    }
    return walked;
  }

  /// Of a sliding window the first trip computes the whole box, the others what is new; the mean was all that is known.
  void slide(Walked& walked, StatementId statement) const {
    const auto found = windows_.find(statement);
    if (found == windows_.end()) return;
    const SlidingWindow& window = *found->second;
    const auto trips = static_cast<double>(nest_.variables[window.along.index()].range.high + 1);
    const auto later = static_cast<double>(window.step) / static_cast<double>(window.step + window.kept);
    walked.slides_along = window.along.index();
    walked.first = walked.cycles * trips / (1 + (trips - 1) * later);
    walked.cycles = walked.first * later;
  }

  void prepare(Walked& walked, const Dma& dma, StatementId statement, double executions) const {
    const auto row = row_.find(statement);
    if (row == row_.end()) return;
    const auto& cost = std::get<TransferCost>(table_[row->second].formula);
    const DmaTotals& all = counts_.dma.at(statement);
    if (cost.transfers_of_busiest == 0 || all.transfers == 0) return;
    const auto transfers = static_cast<double>(cost.transfers_of_busiest);
    // Some executions may move nothing. Those for next trips are as many as trips with those of the first one.
    const double trips = dma.direction == DmaDirection::get ? transfers_into_.at(dma.buffer) : transfers;
    const double share = std::min(1.0, trips / executions);
    walked.kind = Walked::Kind::transfer;
    walked.cycles = barrier_cycles_at(statement);
    walked.issue = share * issuing_cycles(cost) / transfers;
    walked.startup = share * cost.startup_cycles;
    walked.of_team = dma.to != Space::ldm;
    walked.first_slot = first_slot_[dma.buffer];
    walked.value = compiled(dma.buffer.slot);
    walked.transfer.row = row->second;
    walked.transfer.cores = static_cast<double>(all.transfers) / transfers;
    walked.transfer.parts =
        share * (moving_seconds(cost) - cost.one_core_seconds) * cost.clock_hz / static_cast<double>(all.transfers);
    walked.transfer.least = share * cost.busiest_seconds * cost.clock_hz / transfers;
  }

  const LoopNest& nest_;
  const NestCounts& counts_;
  const CostTable& table_;
  std::vector<SlidingWindow> marked_;
  std::map<StatementId, const SlidingWindow*> windows_;  ///< by the statements that compute in them
  std::map<StatementId, std::size_t> row_;               ///< by statement
  std::map<StatementId, std::size_t> barrier_row_;
  TeamBarriers barriers_;
  IdVector<BufferId, SlotId> first_slot_;
  std::map<BufferId, double> transfers_into_;  ///< of the busiest core
  std::set<std::size_t> needed_;               ///< variables
};

class Walk {
 public:
  Walk(const LoopNest& nest, std::size_t rows) : values_(values_of_core(nest, 0)), waits_(rows, 0) {
    for (const Buffer& buffer : nest.buffers) slots_repeat_ = std::lcm(slots_repeat_, std::int64_t{buffer.slots});
  }

  /// `early`: by how many cycles each of the cores that compute is done sooner than the last one.
  MeanWaits run(const std::vector<Walked>& body, const std::vector<double>& early) {
    walk(body);
    await({});
    const double last = now_ - busy_until_;
    if (last <= 0 || early.empty()) return {std::move(waits_), 1};
    const double startup = std::min(startup_, last);
    const double share = (startup + waited_cycles(last - startup, early)) / last;
    for (const auto& [row, cycles] : waits_since_) waits_[row] -= (1 - share) * cycles;
    return {std::move(waits_), share};
  }

 private:
  /// A trip of a loop.
  struct Trip {
    double cycles = 0;
    std::vector<double> waits;  ///< by row
    std::vector<double> state;  ///< of what is under way behind it
    [[nodiscard]] bool is_like(const Trip& other) const {
      const auto alike = [](double a, double b) { return std::abs(a - b) < rounding; };
      return alike(cycles, other.cycles) &&
             std::equal(state.begin(), state.end(), other.state.begin(), other.state.end(), alike);
    }
  };

  /// Of what all cores' transfers take after the last computation, so much is waited for: the engine moves those of
  /// cores that are done early meanwhile. `early` in ascending order.
  [[nodiscard]] static double waited_cycles(double moving, const std::vector<double>& early) {
    double waited = 0;
    for (std::size_t cores = 1; cores <= early.size(); ++cores) {
      const double of_these = moving * static_cast<double>(cores) / static_cast<double>(early.size());
      waited = std::max(waited, of_these - early[cores - 1]);
    }
    return waited;
  }

  void is_busy() {
    busy_until_ = now_;
    waits_since_.clear();
  }

  /// Cycle that the cores have come to which issue no calls of what is loaded for several.
  [[nodiscard]] double others_now() const { return now_ - behind_; }

  void await(const AwaitedTransfers& awaited) {
    engine_.advance(others_now());
    const std::optional<std::size_t> row = engine_.finish(awaited);
    if (!row) return;
    const double others = std::max(others_now(), engine_.now());
    const double waited = std::max(0.0, engine_.now() - now_);
    waits_[*row] += waited;
    waits_since_.emplace_back(*row, waited);
    now_ = std::max(now_, engine_.now());
    behind_ = now_ - others;
  }

  [[nodiscard]] SlotId slot_of(const Walked& each) const {
    return SlotId(each.first_slot.index() + at(each.value(values_)));
  }

  void meet(double barrier_cycles) {
    if (barrier_cycles <= 0) return;
    now_ += barrier_cycles;
    behind_ = 0;
  }

  void walk(const std::vector<Walked>& block) {
    for (const Walked& each : block) walk(each);
  }

  void walk(const Walked& each) {
    ++executed_;
    switch (each.kind) {
      case Walked::Kind::work:
        now_ += each.slides_along && values_[*each.slides_along] == 0 ? each.first : each.cycles;
        is_busy();
        return;
      case Walked::Kind::let: values_[each.variable] = each.value(values_); return;
      case Walked::Kind::loop: walk_loop(each); return;
      case Walked::Kind::guard: {
        const auto passes = [&](const CompiledIndex& e) { return e(values_) > 0; };
        if (each.guarded.empty() || std::any_of(each.guarded.begin(), each.guarded.end(), passes)) walk(each.body);
        return;
      }
      case Walked::Kind::await_row:
        await({.row = each.row});
        meet(each.cycles);
        return;
      case Walked::Kind::await_slot: {
        await({.slot = slot_of(each)});
        meet(each.cycles);
        return;
      }
      case Walked::Kind::transfer: {
        meet(each.cycles);
        now_ += each.issue;
        is_busy();
        startup_ = each.startup;
        if (each.of_team) behind_ += each.issue;
        engine_.advance(others_now());
        MeanTransfer transfer = each.transfer;
        transfer.slot = slot_of(each);
        transfer.moves = each.startup + (each.of_team ? now_ : others_now());
        engine_.start(transfer);
        return;
      }
    }
  }

  void walk_loop(const Walked& loop) {
    std::vector<Trip> before;
    bool has_skipped = false;
    for (std::int64_t trip = 0; trip < loop.trips;) {
      values_[loop.variable] = trip;
      const std::int64_t left = loop.trips - ++trip;
      if (has_skipped || left <= slots_repeat_) {
        walk(loop.body);
        continue;
      }
      before.push_back(followed(loop.body));
      const std::int64_t skipped = (left - 1) / slots_repeat_ * slots_repeat_;
      const std::size_t like = repeating(before);
      if (like == 0) continue;
      skip(before, like, skipped);
      trip += skipped;
      has_skipped = true;
    }
  }

  Trip followed(const std::vector<Walked>& body) {
    Trip trip;
    const double start = now_;
    const std::vector<double> waits = waits_;
    walk(body);
    engine_.advance(others_now());
    trip.cycles = now_ - start;
    trip.waits.resize(waits.size());
    for (std::size_t row = 0; row < waits.size(); ++row) trip.waits[row] = waits_[row] - waits[row];
    trip.state.push_back(behind_);
    for (const MeanTransfer& transfer : engine_.under_way()) {
      trip.state.insert(trip.state.end(), {static_cast<double>(transfer.row), transfer.parts,
                                           std::max(0.0, transfer.moves - engine_.now())});
    }
    return trip;
  }

  /// Of how many of the last trips the mean stands for those to come; 0 if it is too early to tell.
  [[nodiscard]] std::size_t repeating(const std::vector<Trip>& trips) const {
    const std::size_t count = trips.size();
    if (count >= 2 && executed_ > most_executed) return 1;
    if (count >= 3 && trips[count - 1].is_like(trips[count - 2])) return 1;
    if (count >= 5 && trips[count - 1].is_like(trips[count - 3]) && trips[count - 2].is_like(trips[count - 4]))
      return 2;
    return count >= static_cast<std::size_t>(followed_trips) ? static_cast<std::size_t>(mean_of_trips) : 0;
  }

  void skip(const std::vector<Trip>& trips, std::size_t like, std::int64_t skipped) {
    const double share = static_cast<double>(skipped) / static_cast<double>(like);
    double cycles = 0;
    for (std::size_t t = trips.size() - like; t < trips.size(); ++t) {
      cycles += share * trips[t].cycles;
      for (std::size_t row = 0; row < waits_.size(); ++row) waits_[row] += share * trips[t].waits[row];
    }
    engine_.advance(others_now());
    engine_.skip(cycles);
    now_ += cycles;
  }

  std::vector<std::int64_t> values_;
  std::vector<double> waits_;
  std::int64_t slots_repeat_ = 1;  ///< trips in which all slots come round
  MeanEngine engine_;
  double now_ = 0;
  double busy_until_ = 0;                                    ///< when the core last computed or issued calls
  double startup_ = 0;                                       ///< of the last transfer
  std::vector<std::pair<std::size_t, double>> waits_since_;  ///< since then: row and cycles
  double behind_ = 0;  ///< cycles that the core has issued calls for others in, since they last waited for it
  int executed_ = 0;
};

/// By how many cycles cores that compute are done sooner than the one that takes longest, in ascending order. What
/// cores load together keeps them in step: then only what the last trip leaves.
std::vector<double> early_cycles(const CoreCosts& cores, const NestCounts& counts) {
  std::int64_t meetings = 1;
  for (const auto& [statement, times] : counts.barriers) meetings = std::max(meetings, times);
  std::int64_t longest = 0;
  for (const std::int64_t cycles : cores.computing) longest = std::max(longest, cycles);
  std::vector<double> early;
  for (const std::int64_t cycles : cores.computing) {
    if (cycles > 0) early.push_back(static_cast<double>(longest - cycles) / static_cast<double>(meetings));
  }
  std::sort(early.begin(), early.end());
  return early;
}

}  // namespace

MeanWaits mean_waits(const LoopNest& nest, const NestCounts& counts, const CoreCosts& cores, const CostTable& table) {
  return Walk(nest, table.size()).run(Preparer(nest, counts, table).run(), early_cycles(cores, counts));
}

}  // namespace stowage
