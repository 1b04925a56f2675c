// SPDX-License-Identifier: Apache-2.0
// What a search for the plan of fewest cycles has tried: every plan is made by the published algorithms from what the
// search has fixed, lowered, counted and timed; the time model's cycles decide.
//
// What is least is the price: cycles, and a fiftieth more for a split whose cores write parts of one line of main
// memory. The time model does not know what these cost, nor does anybody (docs/emulation.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/target.h"
#include "lowering/model/group_model.h"
#include "lowering/model/group_trace.h"
#include "lowering/model/schedule.h"
#include "lowering/nest/group_work.h"
#include "lowering/search/core_grids.h"
#include "lowering/search/shared_lines.h"
#include "lowering/time/time_model.h"

namespace stowage {

/// What is searched for. All that it names must outlive it.
struct SearchTask {
  const std::string& subject;  ///< the fused operator
  const GroupModel& model;
  const Schedule& person;  ///< what a person has fixed, and how kernels begin
  const Target& target;
  const PlanBounds& bounds;
  const GroupTrace& trace;
  std::int64_t to_beat = 0;  ///< no plan of this price or a higher one is wanted
  std::stop_token over = {};
};

/// A schedule that was planned to the end.
struct Tried {
  Schedule fixed;  ///< by a person and by the search; the algorithms have filled the rest
  Schedule complete;
  TimeEstimate time;
  GroupWork work;
  bool shares_lines = false;          ///< its split does
  std::int64_t least_cycles = 0;      ///< of its split where transfers block; 0: not known
  std::int64_t least_overlapped = 0;  ///< of its split; 0: not known

  [[nodiscard]] std::int64_t parts() const { return core_parts(*complete.parallel); }
  [[nodiscard]] std::int64_t cycles() const { return time.cycles; }
  [[nodiscard]] std::int64_t price() const { return price_of(time.cycles, shares_lines); }
};

/// Schedules that were not planned to the end.
struct LeftUnplanned {
  std::size_t unaligned = 0;  ///< for their transfers
  std::size_t given_up = 0;   ///< as sizes and order said that their price is too high
  std::int64_t least = 0;     ///< least bound of those given up
};

/// Keeps every plan that was made, so that none is made twice, and the best of them.
class TriedPlans {
 public:
  /// `task` must outlive this.
  explicit TriedPlans(const SearchTask& task) : task_(task) {}

  /// Plans what is fixed to the end and keeps it if it is the best so far. Only as far as its sizes and order where
  /// these say already that its price is `enough` at least; that must be no less than the best plan's.
  std::optional<Tried> plan(const Schedule& fixed, std::optional<std::int64_t> enough = std::nullopt) {
    return plan(fixed, Wanted{enough});
  }

  /// The same where nothing is wanted of a plan of that price or a higher one: there is none then.
  std::optional<Tried> plan_below(const Schedule& fixed, std::int64_t enough) {
    return plan(fixed, Wanted{enough, enough});
  }

  /// The same of a neighbour of a plan that takes `above_bound` times its bound. As the neighbour will take about as
  /// many times its own, or few times if the plan takes many, it is planned only where that is little more than
  /// `enough` at most.
  std::optional<Tried> plan_neighbour(const Schedule& fixed, std::int64_t enough, double above_bound) {
    return plan(fixed, Wanted{enough, enough, above_bound});
  }
  /// The plan's cycles by the bound of its sizes, order and places; 0 where that is not known.
  [[nodiscard]] double above_bound(const Tried& tried);

  /// Of least price.
  [[nodiscard]] const std::optional<Tried>& best() const { return best_; }
  /// Of fewest cycles.
  [[nodiscard]] const std::optional<Tried>& cheapest() const { return cheapest_; }

  /// The time for the search is over, and there is a plan.
  [[nodiscard]] bool is_over() const { return best_ && task_.over.stop_requested(); }
  /// No plan of this price or a higher one is looked for.
  [[nodiscard]] bool is_hopeless(std::int64_t least_price) const {
    return least_price >= task_.to_beat || (best_ && least_price >= best_->price());
  }

  [[nodiscard]] bool shares_lines(const std::vector<ParallelSplit>& parallel) const;

  /// Whether some plan had transfers that the DMA cannot carry out.
  [[nodiscard]] bool met_unaligned() const { return met_unaligned_; }
  /// From now on elements narrower than a word may be moved unaligned, which takes long: nothing else is left.
  void allow_narrow_unaligned() { narrow_may_be_unaligned_ = true; }
  [[nodiscard]] bool allows_narrow_unaligned() const { return narrow_may_be_unaligned_; }

  /// Those since count_anew().
  [[nodiscard]] const LeftUnplanned& left_unplanned() const { return left_; }
  void count_anew() { left_ = {}; }

 private:
  using BufferSizes = std::map<std::string, std::int64_t>;  ///< as Schedule::buffer

  /// What is wanted of a plan.
  struct Wanted {
    std::optional<std::int64_t> enough;                             ///< nothing where its bound is as much
    std::int64_t limit = std::numeric_limits<std::int64_t>::max();  ///< nothing where its cycles are as many
    double above_bound = 0;  ///< of the plan whose neighbour it is; 0: it is none
  };

  std::optional<Tried> plan(const Schedule& fixed, const Wanted& wanted);
  [[nodiscard]] const Tried* find_known(const Schedule& complete) const;
  [[nodiscard]] bool moves_aligned(const LoopNest& nest);
  [[nodiscard]] std::int64_t least_cycles_of(const Schedule& schedule, const ReadSchedule& read);
  [[nodiscard]] bool is_given_up(const Schedule& schedule, const ReadSchedule& read, const Wanted& wanted);

  const SearchTask& task_;
  std::optional<Tried> best_;
  std::optional<Tried> cheapest_;
  std::map<BufferSizes, std::vector<Tried>> known_;  ///< all that were planned to the end
  bool narrow_may_be_unaligned_ = false;
  bool met_unaligned_ = false;
  LeftUnplanned left_;
  std::optional<std::pair<std::vector<ParallelSplit>, GridBounds>> over_;  ///< the split that was asked for last
};

}  // namespace stowage
