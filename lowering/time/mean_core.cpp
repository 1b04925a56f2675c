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
#include "lowering/ir/mesh.h"
#include "lowering/time/mean_engine.h"
#include "lowering/time/mean_statements.h"

namespace stowage {
namespace {

/// Trips of a loop that are followed before the mean of the last ones stands for the others.
constexpr std::int64_t followed_trips = 12;
constexpr std::int64_t mean_of_trips = 6;
/// Statements of a nest that are executed; then the trip before stands for the others of a loop.
constexpr int most_executed = 1'500;
/// Cycles by which trips that repeat may differ.
constexpr double rounding = 0.01;

class Walk {
 public:
  Walk(const LoopNest& nest, std::size_t rows) : values_(values_of_core(nest, 0)), waits_(rows, 0) {
    for (const Buffer& buffer : nest.buffers) slots_repeat_ = std::lcm(slots_repeat_, std::int64_t{buffer.slots});
  }

  /// `early`: by how many cycles each of the cores that compute is done sooner than the last one.
  MeanWaits run(const std::vector<MeanStatement>& body, const std::vector<double>& early) {
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
    IdVector<CostId, double> waits;  ///< by row
    std::vector<double> state;       ///< of what is under way behind it
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
    const std::optional<CostId> row = engine_.finish(awaited);
    if (!row) return;
    const double others = std::max(others_now(), engine_.now());
    const double waited = std::max(0.0, engine_.now() - now_);
    waits_[*row] += waited;
    waits_since_.emplace_back(*row, waited);
    now_ = std::max(now_, engine_.now());
    behind_ = now_ - others;
  }

  [[nodiscard]] SlotId slot_of(const MeanStatement& each) const {
    return SlotId(each.first_slot.index() + at(each.value(values_)));
  }

  void meet(double barrier_cycles) {
    if (barrier_cycles <= 0) return;
    now_ += barrier_cycles;
    behind_ = 0;
  }

  void walk(const std::vector<MeanStatement>& block) {
    for (const MeanStatement& each : block) walk(each);
  }

  void walk(const MeanStatement& each) {
    ++executed_;
    switch (each.kind) {
      case MeanStatement::Kind::work:
        now_ += each.slides_along && values_[*each.slides_along] == 0 ? each.first : each.cycles;
        is_busy();
        return;
      case MeanStatement::Kind::let: values_[each.variable] = each.value(values_); return;
      case MeanStatement::Kind::loop: walk_loop(each); return;
      case MeanStatement::Kind::guard: {
        const auto passes = [&](const CompiledIndex& e) { return e(values_) > 0; };
        if (each.guarded.empty() || std::any_of(each.guarded.begin(), each.guarded.end(), passes)) walk(each.body);
        return;
      }
      case MeanStatement::Kind::await_row:
        await({.row = each.row});
        meet(each.cycles);
        return;
      case MeanStatement::Kind::await_slot: {
        await({.slot = slot_of(each)});
        meet(each.cycles);
        return;
      }
      case MeanStatement::Kind::transfer: {
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

  void walk_loop(const MeanStatement& loop) {
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

  Trip followed(const std::vector<MeanStatement>& body) {
    Trip trip;
    const double start = now_;
    const IdVector<CostId, double> waits = waits_;
    walk(body);
    engine_.advance(others_now());
    trip.cycles = now_ - start;
    trip.waits.resize(waits.size());
    for (const CostId row : waits.ids()) trip.waits[row] = waits_[row] - waits[row];
    trip.state.push_back(behind_);
    for (const MeanTransfer& transfer : engine_.under_way()) {
      trip.state.insert(trip.state.end(), {static_cast<double>(transfer.row.index()), transfer.parts,
                                           std::max(0.0, transfer.moves - engine_.now()),
                                           std::max(0.0, transfer.taken_in.value_or(0) - engine_.now())});
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
      for (const CostId row : waits_.ids()) waits_[row] += share * trips[t].waits[row];
    }
    engine_.advance(others_now());
    engine_.skip(cycles);
    now_ += cycles;
  }

  std::vector<std::int64_t> values_;
  IdVector<CostId, double> waits_;
  std::int64_t slots_repeat_ = 1;  ///< trips in which all slots come round
  MeanEngine engine_;
  double now_ = 0;
  double busy_until_ = 0;                               ///< when the core last computed or issued calls
  double startup_ = 0;                                  ///< of the last transfer
  std::vector<std::pair<CostId, double>> waits_since_;  ///< since then: row and cycles
  double behind_ = 0;  ///< cycles that the core has issued calls for others in, since they last waited for it
  int executed_ = 0;
};

/// Cores that meet again and again while they compute, as what they load together keeps them in step.
struct Meetings {
  std::int64_t times = 1;
  bool in_rows = false, in_columns = false;
  /// Cores of the same number keep each other in step.
  [[nodiscard]] int set_of(const LoopNest& nest, int core) const {
    if (in_rows && in_columns) return 0;
    if (in_rows) return Teams(nest, Space::row).team_of(core);
    return in_columns ? Teams(nest, Space::column).team_of(core) : core;
  }
};

Meetings meetings_of(const LoopNest& nest, const NestCounts& counts) {
  Meetings meetings;
  visit_statements(nest.body, [&](const Stmt& s) {
    const auto team = team_of(s);
    const auto here = counts.meetings.find(s.id);
    if (!team || here == counts.meetings.end() || here->second.times <= 1) return;  // once, before they compute
    meetings.times = std::max(meetings.times, here->second.times);
    meetings.in_rows = meetings.in_rows || *team != Space::column;
    meetings.in_columns = meetings.in_columns || *team != Space::row;
  });
  return meetings;
}

/// By how many cycles cores that compute are done sooner than the one that takes longest, in ascending order: of those
/// that are in step only what the last trip leaves.
std::vector<double> early_cycles(const LoopNest& nest, const CoreCosts& cores, const NestCounts& counts) {
  const Meetings meetings = meetings_of(nest, counts);
  std::int64_t longest = 0;
  std::map<int, std::int64_t> of_set;
  for (std::size_t core = 0; core < cores.computing.size(); ++core) {
    longest = std::max(longest, cores.computing[core]);
    std::int64_t& most = of_set[meetings.set_of(nest, static_cast<int>(core))];
    most = std::max(most, cores.computing[core]);
  }
  std::vector<double> early;
  for (std::size_t core = 0; core < cores.computing.size(); ++core) {
    if (cores.computing[core] <= 0) continue;
    const std::int64_t most = of_set.at(meetings.set_of(nest, static_cast<int>(core)));
    early.push_back(static_cast<double>(longest - most) +
                    static_cast<double>(most - cores.computing[core]) / static_cast<double>(meetings.times));
  }
  std::sort(early.begin(), early.end());
  return early;
}

}  // namespace

MeanWaits mean_waits(const LoopNest& nest, const NestCounts& counts, const CoreCosts& cores, const CostTable& table) {
  return Walk(nest, table.size()).run(mean_statements(nest, counts, table), early_cycles(nest, cores, counts));
}

}  // namespace stowage
