// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/branch_and_bound.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "lowering/model/ldm_room.h"
#include "lowering/model/residents.h"
#include "lowering/model/sharing.h"
#include "lowering/nest/lower.h"
#include "lowering/search/core_grids.h"
#include "lowering/search/known_boxes.h"
#include "lowering/search/loop_paths.h"
#include "lowering/search/schedule_space.h"
#include "lowering/swtvm/idle_slots.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/time/counts.h"
#include "lowering/time/dma_alignment.h"
#include "lowering/time/estimate_below.h"
#include "lowering/time/time_model.h"

namespace stowage {
namespace {

/// Of a grid's buffers in turn: what stays, in how many slots, loaded by whom.
struct DecisionPoint {
  enum class Of : std::uint8_t { resident, slots, sharing } of = Of::resident;
  BufferId buffer;
  std::size_t options = 1;
};

struct Interval16 {
  std::uint16_t low = 0;
  std::uint16_t high = 0;  ///< indices into the lengths of an iterator, both included
};

/// The decisions of a node with the rest as good as it can be: for the bound what moves least, for the LDM what needs
/// least.
struct Choice {
  IdVector<BufferId, std::set<IteratorId>> resident, resident_in_ldm;
  IdVector<BufferId, int> slots, slots_in_ldm;
  IdVector<BufferId, SharedBy> sharing;
  IdVector<BufferId, bool> meeting;  ///< it is known who loads it
  std::int64_t room = 0;             ///< bytes of LDM for the buffers
};

struct Node {
  std::int64_t bound = 0;
  std::int64_t number = 0;  ///< in which it was made: among equals the older one first
  std::size_t grid = 0;
  std::vector<std::uint8_t> decided;     ///< options of the first decision points
  std::shared_ptr<const Choice> choice;  ///< that follows from these
  IdVector<IteratorId, Interval16> box;
  bool is_tried = false;  ///< its longest lengths were planned

  [[nodiscard]] bool comes_after(const Node& other) const {
    return bound != other.bound ? bound > other.bound : number > other.number;
  }
};

/// A grid when it is looked at.
struct OpenGrid {
  GridSpace space;
  GridBounds bounds;
  std::vector<DecisionPoint> decisions;
};

class BranchAndBound {
 public:
  BranchAndBound(const std::string& subject, const GroupModel& model, const Schedule& person, const Target& target,
                 const SearchStart& start, const SearchLimits& limits, const std::stop_token& over)
      : subject_(subject),
        model_(model),
        person_(person),
        target_(target),
        start_(start),
        limits_(limits),
        over_(over),
        space_(model, person, target),
        bounds_(model, target, person.launch.value_or(LaunchedBy::spawn)),
        paths_(model, space_.orders()),
        boxes_(model, target.ldm.alignment) {
    certificate_.cycles = start.cycles;
  }

  SearchedSpace run() {
    open_grids();
    certificate_.ended = Certificate::Ended::proved;
    while (!nodes_.empty() && nodes_.top().bound < cut()) {
      if (over_.stop_requested()) {
        certificate_.ended = Certificate::Ended::time;
        break;
      }
      if (certificate_.planned >= limits_.planned || certificate_.bounded >= limits_.bounded) {
        certificate_.ended = Certificate::Ended::schedules;
        break;
      }
      Node node = nodes_.top();
      nodes_.pop();
      divide(std::move(node));
    }
    certificate_.least_cycles = nodes_.empty() ? cut() : std::min(cut(), nodes_.top().bound);
    return {best_, certificate_};
  }

 private:
  struct Later {
    bool operator()(const Node& a, const Node& b) const { return a.comes_after(b); }
  };

  [[nodiscard]] std::int64_t cut() const { return std::min(certificate_.cycles, start_.to_beat); }

  // --- grids ---------------------------------------------------------------------------------------------------------

  void open_grids() {
    std::vector<CoreGrid> grids = bounds_.grids();
    if (person_.parallel) {
      std::erase_if(grids, [&](const CoreGrid& grid) { return grid.parallel != *person_.parallel; });
      if (grids.empty()) {
        CoreGrid fixed{*person_.parallel, {}};
        for (const BufferId b : model_.buffers.ids())
          fixed.sharing.push_back(widest_sharing(model_, b, *person_.parallel, target_));
        grids.push_back(std::move(fixed));
      }
    }
    for (CoreGrid& grid : grids) {
      if (grid.least_overlapped >= cut()) continue;
      Node node;
      node.bound = grid.least_overlapped;
      node.grid = grids_.size();
      node.number = next_number_++;
      grids_.push_back({});
      grids_.back().space.grid = std::move(grid);
      nodes_.push(std::move(node));
    }
  }

  /// What can be chosen over a grid is found when the grid is divided first.
  OpenGrid& opened(Node& node) {
    OpenGrid& grid = grids_[node.grid];
    if (grid.space.ranges.empty()) {
      grid.space = space_.over(std::move(grid.space.grid));
      grid.bounds = bounds_.over(grid.space.grid.parallel);
      const auto add = [&](DecisionPoint::Of of, BufferId b, std::size_t options) {
        if (options > 1) grid.decisions.push_back({of, b, options});
      };
      for (const BufferId b : model_.buffers.ids()) add(DecisionPoint::Of::resident, b, grid.space.residents[b].size());
      for (const BufferId b : model_.buffers.ids()) add(DecisionPoint::Of::slots, b, grid.space.slots[b].size());
      for (const BufferId b : model_.buffers.ids()) add(DecisionPoint::Of::sharing, b, grid.space.sharing[b].size());
    }
    if (node.box.empty()) {
      for (const auto& lengths : grid.space.lengths) {
        node.box.push_back({0, static_cast<std::uint16_t>(lengths.size() - 1)});
      }
    }
    return grid;
  }

  // --- what a node can be --------------------------------------------------------------------------------------------

  [[nodiscard]] std::shared_ptr<const Choice> choice_of(const Node& node, const OpenGrid& grid) const {
    Choice choice;
    const GridSpace& space = grid.space;
    for (const BufferId b : model_.buffers.ids()) {
      // Along all iterators is the widest, and stands second; none needs least.
      const auto& residents = space.residents[b];
      choice.resident.push_back(residents.size() > 1 ? residents[1] : residents[0]);
      choice.resident_in_ldm.push_back(residents[0]);
      choice.slots.push_back(space.slots[b].back());
      choice.slots_in_ldm.push_back(space.slots[b].front());
      choice.sharing.push_back(space.sharing[b].back());
      choice.meeting.push_back(space.sharing[b].size() == 1);
    }
    for (std::size_t d = 0; d < node.decided.size(); ++d) {
      const DecisionPoint& point = grid.decisions[d];
      const std::size_t option = node.decided[d];
      switch (point.of) {
        case DecisionPoint::Of::resident:
          choice.resident[point.buffer] = choice.resident_in_ldm[point.buffer] = space.residents[point.buffer][option];
          break;
        case DecisionPoint::Of::slots:
          choice.slots[point.buffer] = choice.slots_in_ldm[point.buffer] = space.slots[point.buffer][option];
          break;
        case DecisionPoint::Of::sharing:
          choice.sharing[point.buffer] = space.sharing[point.buffer][option];
          choice.meeting[point.buffer] = true;
          break;
      }
    }
    choice.slots = with_what_lies_over(std::move(choice.slots));
    choice.slots_in_ldm = with_what_lies_over(std::move(choice.slots_in_ldm));
    choice.room = ldm_for_buffers(model_, target_, choice.slots_in_ldm);
    return std::make_shared<const Choice>(std::move(choice));
  }

  /// As slots_by_buffer does it.
  [[nodiscard]] IdVector<BufferId, int> with_what_lies_over(IdVector<BufferId, int> wanted) const {
    IdVector<BufferId, int> slots(model_.buffers.size(), 1);
    for (const BufferId b : model_.buffers.ids()) {
      if (model_.buffers[b].kind == ModelBuffer::Kind::intermediate) continue;
      for (std::optional<BufferId> over = b; over; over = model_.buffers[*over].shares_with) slots[*over] = wanted[b];
    }
    return slots;
  }

  [[nodiscard]] ResidentInputs named(const IdVector<BufferId, std::set<IteratorId>>& resident) const {
    ResidentInputs named;
    for (const BufferId b : model_.buffers.ids()) {
      for (const IteratorId i : resident[b]) named[model_.buffers[b].name].insert(model_.iterators[i].name);
    }
    return named;
  }

  /// The lengths at one end of every interval.
  [[nodiscard]] static IteratorSizes sizes_of(const Node& node, const OpenGrid& grid, bool longest) {
    IteratorSizes sizes;
    for (const IteratorId i : node.box.ids()) {
      sizes.push_back(grid.space.lengths[i][longest ? node.box[i].high : node.box[i].low]);
    }
    return sizes;
  }

  /// Cuts off what does not fit; false if nothing does.
  [[nodiscard]] bool fit(Node& node, const OpenGrid& grid) {
    const Choice& choice = *node.choice;
    IteratorSizes sizes = sizes_of(node, grid, false);
    const auto fits = [&] {
      std::int64_t bytes = 0;
      for (const BufferId b : model_.buffers.ids()) {
        if (model_.buffers[b].shares_with) continue;
        bytes += boxes_.of(b, sizes, choice.resident_in_ldm[b], grid.space.ranges).bytes * choice.slots_in_ldm[b];
      }
      return bytes <= choice.room;
    };
    if (!fits()) return false;
    for (const IteratorId i : node.box.ids()) {
      Interval16& interval = node.box[i];
      if (interval.low == interval.high) continue;
      const std::int64_t shortest = sizes[i];
      std::size_t fitting = interval.low, too_long = interval.high + 1U;
      for (std::size_t next = interval.high; too_long - fitting > 1; next = fitting + (too_long - fitting) / 2) {
        sizes[i] = grid.space.lengths[i][next];
        (fits() ? fitting : too_long) = next;
      }
      interval.high = static_cast<std::uint16_t>(fitting);
      sizes[i] = shortest;
    }
    return true;
  }

  /// How few cycles a node can take under orders of loops that are alike.
  struct BoundedOrders {
    std::int64_t least = 0;
    const std::vector<std::size_t>* orders = nullptr;  ///< in LoopPaths; null in a space that has none
  };

  /// Of all orders; those that come to the same are bounded once.
  [[nodiscard]] std::vector<BoundedOrders> bounds_of(const Node& node, const OpenGrid& grid) {
    const Choice& choice = *node.choice;
    const GridSpace& space = grid.space;
    const IteratorSizes sizes = sizes_of(node, grid, true);
    GridTiling tiling;
    IdVector<BufferId, std::set<IteratorId>> moving;
    for (const BufferId b : model_.buffers.ids()) {
      tiling.extents.push_back(boxes_.of(b, sizes, choice.resident[b], space.ranges).extents);
      std::set<IteratorId> loops = model_.buffers[b].moved_by;
      if (model_.buffers[b].kind == ModelBuffer::Kind::input)
        std::erase_if(loops, [&](IteratorId i) { return choice.resident[b].contains(i); });
      moving.push_back(std::move(loops));
    }
    tiling.slots = choice.slots;
    tiling.sizes = sizes;
    tiling.meeting = choice.meeting;
    IteratorSizes trips;
    IdVector<IteratorId, bool> has_loop;
    for (const IteratorId i : sizes.ids()) {
      std::int64_t parts = 1;
      for (const ParallelSplit& split : space.grid.parallel) {
        if (split.iterator == model_.iterators[i].name) parts = split.parts;
      }
      const std::int64_t shortest = model_.iterators[i].extent - (parts - 1) * space.ranges[i];
      trips.push_back(std::max<std::int64_t>(1, ceil_div(shortest, sizes[i])));
      has_loop.push_back(sizes[i] < space.ranges[i]);
    }
    const auto bound = [&](IdVector<BufferId, std::int64_t> again) {
      ++certificate_.bounded;
      tiling.again = std::move(again);
      return grid.bounds.least_cycles(tiling, choice.sharing);
    };
    if (space_.orders().empty()) return {{bound(IdVector<BufferId, std::int64_t>(model_.buffers.size(), 1)), nullptr}};
    std::vector<std::pair<IdVector<BufferId, std::int64_t>, std::int64_t>> seen;
    std::vector<BoundedOrders> found;
    for (const AlikeOrders& alike : paths_.alike(has_loop, moving)) {
      IdVector<BufferId, std::int64_t> again = times_again(alike, trips);
      const auto same = std::find_if(seen.begin(), seen.end(), [&](const auto& s) { return s.first == again; });
      const std::int64_t least = same == seen.end() ? bound(again) : same->second;
      if (same == seen.end()) seen.emplace_back(std::move(again), least);
      found.push_back({least, &alike.orders});
    }
    return found;
  }

  /// The same order by order, the least first.
  [[nodiscard]] static std::vector<std::pair<std::int64_t, std::size_t>> by_order(
      const std::vector<BoundedOrders>& bounded) {
    std::vector<std::pair<std::int64_t, std::size_t>> all;
    for (const BoundedOrders& alike : bounded) {
      if (alike.orders == nullptr) return {{alike.least, 0}};
      for (const std::size_t order : *alike.orders) all.emplace_back(alike.least, order);
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  // --- the search ----------------------------------------------------------------------------------------------------

  void divide(Node node) {
    const OpenGrid& grid = opened(node);
    if (!node.choice) node.choice = choice_of(node, grid);
    if (node.decided.size() < grid.decisions.size()) {
      for (std::size_t option = 0; option < grid.decisions[node.decided.size()].options; ++option) {
        Node child = node;
        child.decided.push_back(static_cast<std::uint8_t>(option));
        child.choice = choice_of(child, grid);
        add(std::move(child), grid);
      }
      return;
    }
    const bool is_point =
        std::all_of(node.box.begin(), node.box.end(), [](const Interval16& i) { return i.low == i.high; });
    if (is_point || !node.is_tried) try_longest(node, grid, is_point);
    if (is_point) return;
    halve(node, grid);
  }

  /// The interval whose ends are furthest apart, into the longer ones and the shorter ones.
  void halve(const Node& node, const OpenGrid& grid) {
    IteratorId widest;
    double most = 0;
    for (const IteratorId i : node.box.ids()) {
      const auto& lengths = grid.space.lengths[i];
      const double apart =
          static_cast<double>(lengths[node.box[i].high]) / static_cast<double>(lengths[node.box[i].low]);
      if (node.box[i].low < node.box[i].high && apart > most) {
        most = apart;
        widest = i;
      }
    }
    const auto middle = static_cast<std::uint16_t>((node.box[widest].low + node.box[widest].high) / 2);
    Node longer = node;
    longer.box[widest].low = static_cast<std::uint16_t>(middle + 1);
    Node shorter = node;
    shorter.box[widest].high = middle;
    shorter.is_tried = false;
    add(std::move(longer), grid);
    add(std::move(shorter), grid);
  }

  void add(Node child, const OpenGrid& grid) {
    if (!fit(child, grid)) return;
    const std::vector<BoundedOrders> bounded = bounds_of(child, grid);
    const auto least =
        std::min_element(bounded.begin(), bounded.end(),
                         [](const BoundedOrders& a, const BoundedOrders& b) { return a.least < b.least; });
    child.bound = std::max(child.bound, least->least);
    if (child.bound >= cut()) return;
    child.number = next_number_++;
    nodes_.push(std::move(child));
  }

  /// Plans the longest lengths of a node in every order of a point, else in that of the least bound.
  void try_longest(Node& node, const OpenGrid& grid, bool is_point) {
    node.is_tried = true;
    const Choice& choice = *node.choice;
    SpacePoint point{sizes_of(node, grid, true), choice.resident, choice.slots, choice.sharing, {}};
    if (!is_point) {
      const Residents residents(model_, named(choice.resident), grid.space.ranges);
      const auto bytes = buffer_bytes(model_, point.sizes, target_.ldm.alignment, choice.slots, residents);
      if (std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}) > ldm_for_buffers(model_, target_, choice.slots))
        return;
    }
    std::set<LoopOrder> seen;
    for (const auto& [least, order] : by_order(bounds_of(node, grid))) {
      if (least >= cut()) break;
      if (!space_.orders().empty()) point.order = space_.with_loops(space_.orders()[order], grid.space, point.sizes);
      if (!seen.insert(point.order).second) continue;
      ++certificate_.planned;
      auto tried = try_schedule(subject_, model_, space_.schedule(grid.space, point), target_, start_.unaligned, cut());
      if (tried) {
        certificate_.cycles = tried->cycles;
        best_ = std::move(tried->complete);
      }
      if (!is_point) break;
    }
  }

  const std::string& subject_;
  const GroupModel& model_;
  const Schedule& person_;
  const Target& target_;
  const SearchStart& start_;
  const SearchLimits& limits_;
  const std::stop_token& over_;
  ScheduleSpace space_;
  PlanBounds bounds_;
  LoopPaths paths_;
  KnownBoxes boxes_;
  std::vector<OpenGrid> grids_;
  std::priority_queue<Node, std::vector<Node>, Later> nodes_;
  std::int64_t next_number_ = 0;
  std::optional<Schedule> best_;
  Certificate certificate_;
};

}  // namespace

std::optional<TriedSchedule> try_schedule(const std::string& subject, const GroupModel& model, const Schedule& fixed,
                                          const Target& target, bool may_be_unaligned, std::int64_t enough) {
  Scheduled scheduled = run_algorithms(subject, model, fixed, target, {});
  if (std::holds_alternative<Decision>(scheduled)) return std::nullopt;
  Schedule& complete = std::get<Schedule>(scheduled);
  if (!idle_slots(model, complete).empty()) return std::nullopt;  // the same with fewer slots is another schedule
  Lowered lowered = lower(subject, model, complete, target);
  if (std::holds_alternative<Decision>(lowered)) return std::nullopt;
  const LoopNest& nest = std::get<LoopNest>(lowered);
  const auto unaligned = unaligned_transfers(nest, target);
  if (!unaligned.empty() && (!may_be_unaligned || find_refused(unaligned) != nullptr)) return std::nullopt;
  ComputeCounts computations = count_computations(nest);
  if (least_cycles(nest, computations, target) >= enough) return std::nullopt;
  const auto time = estimate_below(nest, predict_counts(nest, std::move(computations)), target, enough);
  if (!time) return std::nullopt;
  return TriedSchedule{std::move(complete), time->cycles};
}

SearchedSpace search_space(const std::string& subject, const GroupModel& model, const Schedule& person,
                           const Target& target, const SearchStart& start, const SearchLimits& limits,
                           const std::stop_token& over) {
  return BranchAndBound(subject, model, person, target, start, limits, over).run();
}

}  // namespace stowage
