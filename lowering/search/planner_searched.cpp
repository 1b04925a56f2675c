// SPDX-License-Identifier: Apache-2.0
// Planner "searched": every plan is made by the published algorithms from what the search has fixed, lowered, counted
// and timed; the time model's cycles decide. Three rounds:
//
//   grids    every split over the cores whose bound from below (core_grids.h) is less than the best plan so far. When
//            the next bound reaches it, no split is left that could be better under algorithms 1 to 3.
//   sizes    from the best split on, buffer sizes next to those of algorithm 1: one iterator's longer or shorter, or
//            one longer in exchange for another's shorter.
//   order    with these sizes, neighbouring loops in exchange.
//   slots    the same, sizes, order and slots, from the splits that take least with two slots for every tensor that
//            moves more than once; where that is none, one iterator is cut so that some do. This comes before the other
//            two, and leaves them little hope.
//
// The last three climb as long as something gets cheaper: a better plan further away may be missed. So what is found
// from the best split of all may cost more than what would be found from another one that needs fewer cores. The climb
// therefore begins from the best split of at most all cores, of at most half of them, of a quarter and so on, where its
// bound leaves hope: so what would be found on a target of half as many cores is among the results, and twice as many
// cores are not slower. Left out are beginnings that even with all overlap they can have take three tenths longer than
// the best plan so far: that nothing is missed thereby is tested, not proved. And, on all cores and where work is
// computed again too, those of more than three times the best plan, or what is to be beaten: what is missed thereby are
// better plans of groups that stay far too slow to be chosen.
//
// Most groups that could be fused compute again what they need of each other, a few of them thousands of times. After
// the first splits the search of such a group ends (lowering/search/work_again.h): what would be found from there on
// would hardly ever be chosen. That, too, is judged for all cores, for half of them and so on, each by itself.
//
// What is least is the price: cycles, and a fiftieth more for a split whose cores write parts of one line of main
// memory. The time model does not know what these cost, nor does anybody (docs/emulation.md).
#include "lowering/search/planner_searched.h"

#include <algorithm>
#include <limits>
#include <map>

#include "lowering/model/buffer_slots.h"
#include "lowering/model/group_trace.h"
#include "lowering/model/sharing.h"
#include "lowering/nest/lower.h"
#include "lowering/nest/plan.h"
#include "lowering/search/core_grids.h"
#include "lowering/search/neighbours.h"
#include "lowering/search/shared_lines.h"
#include "lowering/search/work_again.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/swtvm/read_schedule.h"
#include "lowering/swtvm/swtvm.h"
#include "lowering/time/counts.h"
#include "lowering/time/dma_alignment.h"
#include "lowering/time/rates.h"
#include "lowering/time/time_model.h"

namespace stowage {
namespace {

/// A plan this near to the least that its split can take is not worth a climb.
constexpr double near_enough = 1.02;
/// A step of a climb that leaves so much of the price is taken before neighbours of other kinds are looked at.
constexpr double good_step = 0.98;
/// Neighbours planned in one climb, at most.
constexpr int max_neighbours = 120;
/// Fewer cores are climbed from only where they begin below so many times the best plan's cycles.
constexpr double worth_climbing = 1.3;
/// No climb begins above so many times the cycles of the best plan, or of what is to be beaten.
constexpr double out_of_reach = 3;
/// A plan that computes no more than so many times what is needed computes next to nothing again.
constexpr double little_again = 1.1;
/// Splits that climbs with slots begin from, of those of at most so many cores.
constexpr std::size_t overlapped_splits = 2;
/// Splits that are planned to choose these, in the order of their bounds.
constexpr std::size_t bounded_splits = 4;
/// Splits from whose best plan it is judged whether a fused operator computes too much again, at most.
constexpr std::int64_t judged_splits = 8;
/// Splits that the trace tells one by one.
constexpr std::size_t told_splits = 10;

std::int64_t parts_of(const std::vector<ParallelSplit>& parallel) {
  std::int64_t parts = 1;
  for (const ParallelSplit& split : parallel) parts *= split.parts;
  return parts;
}

/// A schedule that was planned to the end.
struct Tried {
  Schedule fixed;  ///< by a person and by the search; the algorithms have filled the rest
  Schedule complete;
  TimeEstimate time;
  GroupWork work;
  bool shares_lines = false;          ///< its split does
  std::int64_t least_cycles = 0;      ///< of its split where transfers block; 0: not known
  std::int64_t least_overlapped = 0;  ///< of its split; 0: not known

  [[nodiscard]] std::int64_t parts() const { return parts_of(*complete.parallel); }
  [[nodiscard]] std::int64_t cycles() const { return time.cycles; }
  [[nodiscard]] std::int64_t price() const { return price_of(time.cycles, shares_lines); }
};

using BufferSizes = std::map<std::string, std::int64_t>;  ///< as Schedule::buffer

/// The splits of at most so many cores: all, half of them, a quarter and so on.
struct Halving {
  std::int64_t cores = 0;
  std::int64_t before_judged = 0;  ///< so many of them are still to be looked at
  bool is_judged = false;
  bool computes_again = false;  ///< so much that no more of them are looked at, and no climb begins
};

/// A grid of the output with what is known of it before it is planned.
struct Split {
  CoreGrid grid;
  bool shares_lines = false;

  [[nodiscard]] std::int64_t least_price() const { return price_of(grid.least_cycles, shares_lines); }
};

class PlanSearch {
 public:
  /// `person` says how kernels begin. Splits none of whose plans can have a lower price than `to_beat` are left out.
  PlanSearch(const std::string& subject, const StageList& stages, const Schedule& person, const Target& target,
             TraceSink trace, std::int64_t to_beat = std::numeric_limits<std::int64_t>::max(),
             std::stop_token over = {})
      : subject_(subject),
        person_(person),
        target_(target),
        to_beat_(to_beat),
        over_(std::move(over)),
        model_(build_group_model(stages, target)),
        trace_(group_trace(trace, subject, model_)),
        bounds_(model_, target, person_.launch.value()),
        apart_(model_, target),
        neighbours_(model_, person_, target) {
    for (std::int64_t cores = target.cores.count; cores >= 1; cores /= 2) halvings_.push_back({cores});
  }

  /// What the search fixes beside the person; nothing where no plan was found.
  std::optional<Schedule> run() {
    search();
    if (!best_ && met_unaligned_) {
      // Such an operator is planned all the same, with a warning (plan_group.cpp), so the best of these plans is
      // wanted.
      narrow_may_be_unaligned_ = true;
      search();
    }
    if (!best_) return std::nullopt;
    plan_published_aligned();
    const bool costs_more = published_ && best_->cycles() > published_->cycles();
    const Tried& chosen = costs_more ? *cheapest_ : *best_;
    tell_choice(chosen);
    return chosen.fixed;
  }

 private:
  /// The time for it is over, and there is a plan.
  [[nodiscard]] bool is_over() const { return best_ && over_.stop_requested(); }

  void search() {
    published_ = plan(person_);
    published_is_unaligned_ = !published_ && met_unaligned_;
    if (person_.parallel) {
      if (published_) splits_.push_back(*published_);
      if (auto shared = plan(on_split(*person_.parallel))) splits_.insert(splits_.begin(), *std::move(shared));
    } else {
      search_grids();
    }
    overlap_from_splits();  // its plans leave few splits with hope for what blocks
    climb_from_splits();
  }

  /// Where the published split makes a transfer unaligned, planner swtvm takes the first of the others that does not
  /// (plan_group.cpp): that is the published plan then.
  void plan_published_aligned() {
    if (published_ || !published_is_unaligned_ || narrow_may_be_unaligned_ || person_.parallel) return;
    std::vector<CoreGrid> grids = core_grids(model_, without_sharing(target_));
    grids.resize(std::min(grids.size(), max_tried_splits));
    for (CoreGrid& grid : grids) {
      Schedule fixed = person_;
      fixed.parallel = std::move(grid.parallel);
      published_ = plan(fixed);
      if (published_) return;
    }
  }

  /// What a person has fixed over a split, with every input loaded together by as many cores as can, where what that
  /// saves of the bandwidth takes longer than the barriers of one transfer, or the way down the column.
  [[nodiscard]] Schedule on_split(const std::vector<ParallelSplit>& parallel) const {
    Schedule fixed = person_;
    fixed.parallel = parallel;
    const IteratorSizes ranges = core_ranges(model_, parallel);
    for (const BufferId b : model_.buffers.ids()) {
      const ModelBuffer& buffer = model_.buffers[b];
      const SharedBy widest = widest_sharing(model_, b, parallel, target_);
      if (widest == SharedBy::core) continue;
      const StageTensor& tensor = model_.list->tensors[buffer.tensor];
      const std::int64_t wanted = element_count(buffer_extents(model_, buffer, ranges)) * byte_size(tensor.type);
      const auto saved = static_cast<double>(wanted * (cores_of(widest, parts_of(parallel), target_) - 1));
      const double meeting = widest == SharedBy::column ? meeting_cycles(column_broadcast_cost(wanted, target_))
                                                        : 2 * target_.cores.barrier_cycles;
      if (saved / peak_dma_bandwidth(target_) > meeting / target_.clock_hz)
        fixed.sharing.try_emplace(buffer.name, widest);
    }
    return fixed;
  }

  // --- plans ---------------------------------------------------------------------------------------------------------

  /// Plans what is fixed to the end and keeps it if it is the best so far. Only as far as its sizes and order where
  /// these say already that its price is `enough` at least; that must be no less than the best plan's.
  std::optional<Tried> plan(const Schedule& fixed, std::optional<std::int64_t> enough = std::nullopt) {
    Scheduled scheduled = run_algorithms(subject_, model_, fixed, target_, {});
    if (std::holds_alternative<Decision>(scheduled)) return std::nullopt;
    const std::vector<std::string> idle = idle_slots(model_, std::get<Schedule>(scheduled));
    if (!idle.empty()) {
      // With these sizes they move once. A person's wish stays, so that there is no such plan.
      Schedule fewer = fixed;
      for (const std::string& tensor : idle) {
        if (person_.slots.contains(tensor)) return std::nullopt;
        fewer.slots[tensor] = 1;
      }
      return plan(fewer, enough);
    }
    if (enough && is_hopeless(std::get<Schedule>(scheduled), *enough)) return std::nullopt;
    if (const Tried* known = find_known(std::get<Schedule>(scheduled))) {
      Tried again = *known;
      again.fixed = fixed;
      return again;
    }
    Plan plan;
    plan.schedule = std::get<Schedule>(std::move(scheduled));
    Lowered lowered = lower(subject_, model_, plan.schedule, target_);
    if (std::holds_alternative<Decision>(lowered)) return std::nullopt;
    plan.nest = std::get<LoopNest>(std::move(lowered));
    if (!moves_aligned(plan.nest)) return std::nullopt;
    ComputeCounts computations = count_computations(plan.nest);
    const bool shares = shares_lines(*plan.schedule.parallel);
    if (enough && price_of(least_cycles(plan.nest, computations, target_), shares) >= *enough) return std::nullopt;
    plan.counts = predict_counts(plan.nest, std::move(computations));
    plan.time = estimate_time(plan.nest, plan.counts, target_);
    Tried tried{fixed, plan.schedule, plan.time, work_of(plan), shares};
    if (!best_ || tried.price() < best_->price()) best_ = tried;
    if (!cheapest_ || tried.cycles() < cheapest_->cycles()) cheapest_ = tried;
    known_[tried.complete.buffer].push_back(tried);
    return tried;
  }

  /// A plan that came to the same schedule before, from other things fixed: a climb comes back to where it was, or the
  /// climb from another split to where that one was.
  [[nodiscard]] const Tried* find_known(const Schedule& complete) const {
    const auto of_sizes = known_.find(complete.buffer);
    if (of_sizes == known_.end()) return nullptr;
    const auto found = std::find_if(of_sizes->second.begin(), of_sizes->second.end(),
                                    [&](const Tried& tried) { return tried.complete == complete; });
    return found == of_sizes->second.end() ? nullptr : &*found;
  }

  bool moves_aligned(const LoopNest& nest) {
    const auto unaligned = unaligned_transfers(nest, target_);
    if (unaligned.empty()) return true;
    met_unaligned_ = true;
    if (narrow_may_be_unaligned_ && find_refused(unaligned) == nullptr) return true;
    ++unaligned_;
    return false;
  }

  [[nodiscard]] bool shares_lines(const std::vector<ParallelSplit>& parallel) const {
    return !target_.dma.lines && cores_share_lines(model_, parallel, target_.main_memory.line_bytes);
  }

  /// No plan of this price or a higher one is looked for.
  [[nodiscard]] bool is_hopeless(std::int64_t least_price) const {
    return least_price >= to_beat_ || (best_ && least_price >= best_->price());
  }

  bool is_hopeless(const Schedule& schedule, std::int64_t enough) {
    const auto read = read_schedule(model_, schedule);
    if (std::holds_alternative<Decision>(read)) return false;
    const std::int64_t least =
        bounds_.least_cycles(std::get<ReadSchedule>(read), slots_by_buffer(model_, schedule.slots),
                             sharing_by_buffer(model_, schedule.sharing));
    if (price_of(least, shares_lines(*schedule.parallel)) < enough) return false;
    least_given_up_ = given_up_++ == 0 ? least : std::min(least_given_up_, least);
    return true;
  }

  /// Whether a climb from a split of fewer cores than all, which begins at so many cycles, may lead below the best
  /// plan. What climbs bring is mostly the overlap, which these cycles count already or are without. Not so where work
  /// is computed again: other sizes may change that by much.
  [[nodiscard]] bool may_overtake(std::int64_t cycles) const {
    return !best_ || best_->work.factor() > little_again ||
           static_cast<double>(cycles) < worth_climbing * static_cast<double>(best_->cycles());
  }

  /// Whether what a climb would begin with takes so long that other sizes hardly bring it down to the best plan, or to
  /// what is to be beaten. Mostly such a group computes again what takes it far longer than its operators apart.
  [[nodiscard]] bool is_out_of_reach(const Tried& begin) const {
    const std::int64_t least = best_ ? std::min(best_->cycles(), to_beat_) : to_beat_;
    return static_cast<double>(if_overlapped(begin)) > out_of_reach * static_cast<double>(least);
  }

  // --- splits --------------------------------------------------------------------------------------------------------

  /// Those of the least price that they can have first.
  [[nodiscard]] std::vector<Split> splits_to_try() const {
    std::vector<Split> splits;
    for (CoreGrid& grid : bounds_.grids()) {
      const bool shares = shares_lines(grid.parallel);
      splits.push_back({std::move(grid), shares});
    }
    std::stable_sort(splits.begin(), splits.end(),
                     [](const Split& a, const Split& b) { return a.least_price() < b.least_price(); });
    return splits;
  }

  void search_grids() {
    grids_ = splits_to_try();
    const std::vector<Split>& splits = grids_;
    unaligned_ = work_again_ = 0;
    for (Halving& halving : halvings_) {
      const auto count = std::count_if(splits.begin(), splits.end(),
                                       [&](const Split& s) { return parts_of(s.grid.parallel) <= halving.cores; });
      halving = {halving.cores, std::min<std::int64_t>(count, judged_splits)};
    }
    std::size_t next = 0;
    for (; next < splits.size(); ++next) {
      const CoreGrid& grid = splits[next].grid;
      if (is_over() || is_hopeless(splits[next].least_price())) break;
      judge_work();
      const std::int64_t parts = parts_of(grid.parallel);
      bool is_wanted = false;
      for (Halving& halving : halvings_) {
        if (parts > halving.cores || halving.computes_again) continue;
        --halving.before_judged;
        is_wanted = true;
      }
      if (!is_wanted) {
        ++work_again_;
        continue;
      }
      const Schedule fixed = on_split(grid.parallel);
      const bool is_published =
          published_ && *published_->complete.parallel == grid.parallel && fixed.sharing == person_.sharing;
      auto tried = is_published ? published_ : plan(fixed, least_beside(parts_of(grid.parallel)));
      if (!tried) continue;
      tried->least_cycles = grid.least_cycles;
      tried->least_overlapped = grid.least_overlapped;
      splits_.push_back(*std::move(tried));
    }
    judge_work();
    std::stable_sort(splits_.begin(), splits_.end(),
                     [](const Tried& a, const Tried& b) { return a.price() < b.price(); });
    if (trace_.listening() && !is_over()) tell_splits(splits, next);  // which says why the others are none
  }

  /// Whether so much is computed again that the search ends: for every number of cores from what would be planned on a
  /// target of so many, so that twice as many do not end it where half of them go on.
  void judge_work() {
    for (Halving& halving : halvings_) {
      if (halving.is_judged || halving.before_judged > 0) continue;
      halving.is_judged = true;
      const Tried* best = nullptr;
      for (const Tried& split : splits_) {
        if (split.parts() <= halving.cores && (best == nullptr || split.price() < best->price())) best = &split;
      }
      // The published plan may be better than all splits that are judged.
      halving.computes_again = best != nullptr && computes_again(*best, halving.cores) &&
                               (!published_ || computes_again(*published_, halving.cores));
    }
  }

  [[nodiscard]] bool computes_again(const Tried& tried, std::int64_t cores) const {
    std::int64_t cycles = tried.cycles();  // but for the launch, of which the stages apart would need more
    for (const TimeTerm& term : tried.time.terms) {
      if (kind_of(term.cost) == CostKind::launch) cycles -= term.cycles;
    }
    return computes_too_much_again(tried.work, cycles, apart_, cores);
  }

  /// The price that makes a split of so many parts no beginning of a climb: that of a split that is one for every
  /// number of cores for which it could be.
  [[nodiscard]] std::optional<std::int64_t> least_beside(std::int64_t parts) const {
    std::int64_t cores = target_.cores.count;
    while (cores / 2 >= parts) cores /= 2;
    std::optional<std::int64_t> least;
    for (const Tried& split : splits_) {
      if (split.parts() <= cores && (!least || split.price() < *least)) least = split.price();
    }
    return least;
  }

  /// What a climb finds depends on its split alone. Left out are those that can lead to nothing better, and those of
  /// fewer cores that hardly can.
  void climb_from_splits() {
    auto climbed = splits_.end();
    for (const Halving& halving : halvings_) {
      if (halving.computes_again) continue;
      const auto best_split = std::find_if(splits_.begin(), splits_.end(),
                                           [&](const Tried& split) { return split.parts() <= halving.cores; });
      if (best_split == splits_.end() || is_over()) return;
      const bool is_far = halving.cores < target_.cores.count && !may_overtake(if_overlapped(*best_split));
      if (best_split != climbed && !is_far && !is_out_of_reach(*best_split) &&
          !is_hopeless(price_of(best_split->least_cycles, best_split->shares_lines)))
        climb(*best_split);
      climbed = best_split;
    }
  }

  // --- slots ---------------------------------------------------------------------------------------------------------

  /// What a plan would take if computation hid all of its transfers that it can: no more than it takes, and near to
  /// what it takes with slots where these need not make buffers much smaller.
  static std::int64_t if_overlapped(const Tried& tried) {
    std::int64_t launch = 0, moved = 0, computed = 0;
    for (const TimeTerm& term : tried.time.terms) {
      const CostKind kind = kind_of(term.cost);
      const auto* transfer = std::get_if<TransferCost>(&term.cost);
      const auto issued = transfer != nullptr ? static_cast<std::int64_t>(issuing_cycles(*transfer)) : 0;
      if (transfer != nullptr) moved += term.cycles - issued;
      const bool stands = kind == CostKind::launch || kind == CostKind::barrier || kind == CostKind::broadcast;
      (stands ? launch : computed) += transfer != nullptr ? issued : term.cycles;
    }
    return launch + std::max(moved, computed);
  }

  /// A split without slots, and what a climb with them begins from.
  struct Beginning {
    Tried split;
    Tried at;
  };

  /// As climb_from_splits, for all cores, half of them and so on. Which splits are looked at depends on their number of
  /// parts and their bounds alone, and only such are left out as cannot lead to anything better, or hardly can
  /// (may_overtake): so what a target of fewer cores would find is among the results.
  void overlap_from_splits() {
    if (neighbours_.tensors_with_slots().empty()) return;
    std::vector<std::vector<ParallelSplit>> climbed;
    for (const Halving& halving : halvings_) {
      if (halving.computes_again) continue;
      std::vector<Beginning> beginnings;
      for (const Tried& split : splits_to_overlap(halving.cores)) {
        if (is_over()) return;
        if (halving.cores < target_.cores.count && !may_overtake(if_overlapped(split))) continue;
        if (auto at = overlapped(split)) beginnings.push_back({split, *std::move(at)});
      }
      std::stable_sort(beginnings.begin(), beginnings.end(),
                       [](const Beginning& a, const Beginning& b) { return a.at.price() < b.at.price(); });
      for (std::size_t b = 0; b < std::min(beginnings.size(), overlapped_splits); ++b) {
        if (is_over()) return;
        const auto& [split, at] = beginnings[b];
        if (std::find(climbed.begin(), climbed.end(), *at.complete.parallel) != climbed.end()) continue;
        climbed.push_back(*at.complete.parallel);
        tell_slots(split, at);
        climb(at, true);
      }
    }
  }

  /// The best split without slots, and those of the least bounds with slots; planned without slots.
  std::vector<Tried> splits_to_overlap(std::int64_t cores) {
    std::vector<Tried> found;
    const auto add = [&](const Tried& split) {
      const auto same = [&](const Tried& other) { return other.complete.parallel == split.complete.parallel; };
      if (std::none_of(found.begin(), found.end(), same)) found.push_back(split);
    };
    const auto best =
        std::find_if(splits_.begin(), splits_.end(), [&](const Tried& split) { return split.parts() <= cores; });
    if (best != splits_.end() && !is_hopeless(price_of(best->least_overlapped, best->shares_lines))) add(*best);
    std::vector<const Split*> splits;
    for (const Split& split : grids_) {
      if (parts_of(split.grid.parallel) <= cores) splits.push_back(&split);
    }
    const auto least = [](const Split* split) { return price_of(split->grid.least_overlapped, split->shares_lines); };
    std::stable_sort(splits.begin(), splits.end(), [&](const Split* a, const Split* b) { return least(a) < least(b); });
    splits.resize(std::min(splits.size(), bounded_splits));
    for (const Split* const each : splits) {
      const Split& split = *each;
      if (is_over()) break;
      if (is_hopeless(price_of(split.grid.least_overlapped, split.shares_lines))) continue;
      const auto planned = std::find_if(splits_.begin(), splits_.end(), [&](const Tried& tried) {
        return *tried.complete.parallel == split.grid.parallel;
      });
      if (planned != splits_.end()) {
        add(*planned);
        continue;
      }
      auto tried = plan(on_split(split.grid.parallel));
      if (!tried) continue;
      tried->least_overlapped = split.grid.least_overlapped;
      add(*tried);
    }
    return found;
  }

  /// A split with two slots for everything that may have them: as algorithm 1 sizes such buffers, or, where that takes
  /// less, with all that a core has of one iterator in them and the others as algorithm 1 sizes them then. Single steps
  /// seldom lead there, as all others have to become shorter, and rows that are whole are long pieces of main memory.
  /// Nothing where it is out of reach.
  std::optional<Tried> overlapped(const Tried& split) {
    Schedule fixed = on_split(*split.complete.parallel);
    for (const std::string& tensor : neighbours_.tensors_with_slots()) fixed.slots[tensor] = max_slots;
    auto begin = plan(fixed);
    for (Schedule& whole : neighbours_.whole_iterators(fixed)) {
      auto tried = plan(whole);
      if (tried && (!begin || tried->price() < begin->price())) begin = std::move(tried);
    }
    if (!begin || is_out_of_reach(*begin)) return std::nullopt;
    begin->least_cycles = begin->least_overlapped = split.least_overlapped;
    return begin;
  }

  // --- sizes and order -----------------------------------------------------------------------------------------------

  void climb(Tried at, bool with_slots = false) {
    const auto far = [&] {
      return static_cast<double>(at.cycles()) > near_enough * static_cast<double>(at.least_cycles);
    };
    const auto next_to = [&](const Tried& here) {
      const Reached reached{here.fixed, here.complete};
      std::vector<std::vector<Schedule>> all = {neighbours_.single_sizes(reached), neighbours_.loop_orders(reached)};
      all.push_back(neighbours_.sharings(reached));
      all.push_back(neighbours_.residents(reached));
      if (with_slots) {
        all.push_back(neighbours_.slot_numbers(reached));
        all.push_back(neighbours_.slots_for_all(reached));
      }
      all.push_back(neighbours_.paired_sizes(reached));
      return all;
    };
    std::vector<Schedule> seen;  // neighbours planned
    int planned = 0;
    while (far()) {
      std::optional<Tried> better;
      for (const auto& neighbours : next_to(at)) {
        for (const Schedule& fixed : neighbours) {
          if (planned == max_neighbours || is_over()) break;
          if (std::find(seen.begin(), seen.end(), fixed) != seen.end()) continue;
          seen.push_back(fixed);
          ++planned;
          const std::int64_t to_beat = better ? better->price() : at.price();
          auto tried = plan(fixed, to_beat);
          if (tried && tried->price() < to_beat) better = std::move(tried);
        }
        if (better && static_cast<double>(better->price()) < good_step * static_cast<double>(at.price())) break;
      }
      if (!better) break;
      better->least_cycles = at.least_cycles;
      tell_step(at, *better);
      at = *std::move(better);
    }
    if (planned > 0) trace_.add(NeighboursPlanned{split_of(at), planned, at.cycles()});
  }

  // --- what is told --------------------------------------------------------------------------------------------------

  [[nodiscard]] std::vector<TracedSplit> split_of(const Tried& tried) const {
    return traced(model_, *tried.complete.parallel);
  }

  void tell_left_out(SplitsLeftOut::Why why, std::size_t count, std::int64_t least_cycles = 0) const {
    if (count > 0) trace_.add(SplitsLeftOut{why, static_cast<std::int64_t>(count), least_cycles});
  }

  void tell_splits(const std::vector<Split>& splits, std::size_t planned) const {
    if (published_) trace_.add(SplitPlanned{split_of(*published_), true, false, published_->cycles(), 0});
    for (std::size_t s = 0; s < std::min(told_splits, splits_.size()); ++s) {
      const Tried& split = splits_[s];
      trace_.add(SplitPlanned{split_of(split), false, split.shares_lines, split.cycles(), split.least_cycles});
    }
    if (splits_.size() > told_splits) {
      trace_.add(MoreSplitsPlanned{static_cast<std::int64_t>(splits_.size() - told_splits),
                                   splits_[told_splits].cycles(), splits_.back().cycles()});
    }
    tell_left_out(SplitsLeftOut::Why::given_up, given_up_, least_given_up_);
    tell_left_out(SplitsLeftOut::Why::unaligned, unaligned_);
    tell_left_out(SplitsLeftOut::Why::work_again, work_again_);
    const std::size_t seen = splits_.size() + given_up_ + unaligned_ + work_again_;
    if (planned > seen) tell_left_out(SplitsLeftOut::Why::unplanned, planned - seen);
    if (planned == splits.size()) return;
    const auto least =
        std::min_element(splits.begin() + static_cast<std::ptrdiff_t>(planned), splits.end(),
                         [](const Split& a, const Split& b) { return a.grid.least_cycles < b.grid.least_cycles; });
    tell_left_out(SplitsLeftOut::Why::too_slow, splits.size() - planned, least->grid.least_cycles);
  }

  void tell_step(const Tried& from, const Tried& to) const {
    if (!trace_.listening()) return;
    const bool changes_slots = from.complete.slots != to.complete.slots;
    if (changes_slots) tell_slots(from, to);
    PlanImproved improved{split_of(to), {}, {}, from.cycles(), to.cycles()};
    for (const IteratorId i : model_.iterators.ids()) {
      const std::string& name = model_.iterators[i].name;
      const SizeChanged size{IteratorId(i), from.complete.buffer.at(name), to.complete.buffer.at(name)};
      if (size.before != size.after) improved.sizes.push_back(size);
    }
    const auto read = read_schedule(model_, to.complete);
    if (from.complete.order != to.complete.order && std::holds_alternative<ReadSchedule>(read)) {
      for (const OuterLoop& loop : std::get<ReadSchedule>(read).order) {
        improved.order.push_back(traced(model_, loop));
      }
    }
    if (!changes_slots || !improved.sizes.empty() || !improved.order.empty()) trace_.add(std::move(improved));
  }

  void tell_slots(const Tried& from, const Tried& to) const {
    if (!trace_.listening()) return;
    SlotsTried tried{split_of(to), {}, from.cycles(), to.cycles()};
    for (const BufferId b : model_.buffers.ids()) {
      const auto slots = to.complete.slots.find(model_.buffers[b].name);
      const bool moved = model_.buffers[b].kind != ModelBuffer::Kind::intermediate;
      if (moved && slots != to.complete.slots.end() && slots->second > 1) tried.buffers.emplace_back(b);
    }
    trace_.add(std::move(tried));
  }

  /// The published plan, and the cost that tells most between it and the best.
  [[nodiscard]] PlanChosen::Published published_beside(const Tried& best) const {
    PlanChosen::Published published{split_of(*published_), published_->cycles(), "", false, 0};
    const TermChange telling = largest_change(published_->time, best.time);
    if (telling.term != nullptr) {
      published.cost = name_of(telling.term->cost);
      published.falls = telling.cycles < 0;
      published.cost_by = std::abs(telling.cycles);
    }
    return published;
  }

  void tell_choice(const Tried& best) const {
    if (!trace_.listening()) return;
    PlanChosen chosen{split_of(best), best.cycles(), false, std::nullopt};
    chosen.is_published = published_ && published_->complete == best.complete;
    if (published_ && !chosen.is_published) chosen.published = published_beside(best);
    trace_.add(std::move(chosen));
    const IdVector<BufferId, SharedBy> sharing = sharing_by_buffer(model_, best.complete.sharing);
    for (const BufferId b : sharing.ids()) {
      if (sharing[b] != SharedBy::core) trace_.add(LoadShared{b, cores_of(sharing[b], best.parts(), target_)});
    }
    tell_residents(best);
    if (cheapest_->cycles() < best.cycles()) trace_.add(CheaperPlanRefused{split_of(*cheapest_), cheapest_->cycles()});
  }

  void tell_residents(const Tried& best) const {
    for (const BufferId b : model_.buffers.ids()) {
      const auto found = best.complete.resident.find(model_.buffers[b].name);
      if (found == best.complete.resident.end()) continue;
      InputResident resident{b, {}};
      for (const std::string& name : found->second) {
        resident.along.push_back(model_.iterator_named(name).value());
      }
      trace_.add(std::move(resident));
    }
  }

  const std::string& subject_;
  const Schedule person_;
  const Target& target_;
  const std::int64_t to_beat_;
  const std::stop_token over_;
  GroupModel model_;
  GroupTrace trace_;
  PlanBounds bounds_;
  const CyclesApart apart_;
  Neighbours neighbours_;
  std::optional<Tried> published_;                   ///< what planner swtvm makes of it
  std::optional<Tried> best_;                        ///< of least price
  std::optional<Tried> cheapest_;                    ///< of fewest cycles
  std::vector<Split> grids_;                         ///< all splits, those of the least bounds first
  std::vector<Tried> splits_;                        ///< one for every split that was planned, best first
  std::map<BufferSizes, std::vector<Tried>> known_;  ///< all that were planned to the end
  bool narrow_may_be_unaligned_ = false;  ///< transfers of elements narrower than a word: nothing else is left
  bool met_unaligned_ = false;
  bool published_is_unaligned_ = false;
  std::vector<Halving> halvings_;    ///< all cores first
  std::size_t work_again_ = 0;       ///< splits left out as the group computes too much again
  std::size_t unaligned_ = 0;        ///< splits left out for their transfers
  std::size_t given_up_ = 0;         ///< schedules that were not planned to the end
  std::int64_t least_given_up_ = 0;  ///< least bound of them
};

}  // namespace

LaunchedBy SearchedPlanner::launch(const Target& target) const {
  const Cores& cores = target.cores;
  const bool is_known = cores.barrier_cycles > 0;
  return is_known && cores.barrier_cycles < cores.launch_seconds * target.clock_hz ? LaunchedBy::barrier
                                                                                   : LaunchedBy::spawn;
}

Scheduled SearchedPlanner::complete(const std::string& subject, const StageList& stages, const Schedule& fixed,
                                    const Target& target, TraceSink trace) const {
  const auto chosen = PlanSearch(subject, stages, with_launch(fixed, *this, target), target, trace).run();
  if (chosen) return complete_chosen(subject, stages, *chosen, target, trace);
  // What no split can hold, the published one cannot: its refusal says what is missing.
  const GroupModel model = build_group_model(stages, target);
  return refusing_idle_slots(model, run_algorithms(subject, model, fixed, target, trace));
}

Chosen SearchedPlanner::choose(const std::string& subject, const StageList& stages, const Schedule& fixed,
                               const Target& target, TraceSink trace, std::int64_t to_beat,
                               const std::stop_token& over) const {
  return {PlanSearch(subject, stages, with_launch(fixed, *this, target), target, trace, to_beat, over).run(),
          std::nullopt};
}

Scheduled SearchedPlanner::complete_chosen(const std::string& subject, const StageList& stages, const Schedule& chosen,
                                           const Target& target, TraceSink trace) const {
  return run_algorithms(subject, build_group_model(stages, target), chosen, target, trace, SplitBy::search);
}

}  // namespace stowage
