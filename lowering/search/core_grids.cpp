// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/core_grids.h"

#include <algorithm>
#include <optional>

#include "core/athread_machine.h"
#include "lowering/model/idle_parts.h"
#include "lowering/model/sharing.h"
#include "lowering/search/core_needs.h"
#include "lowering/search/core_orders.h"
#include "lowering/search/least_compute.h"
#include "lowering/search/least_parts.h"
#include "lowering/time/cost_table.h"
#include "lowering/time/rates.h"

namespace stowage {

class LeastCost {
 public:
  LeastCost(const GroupModel& model, const Target& target, LaunchedBy launch)
      : model_(model), target_(target), launch_(static_cast<double>(cycles_of(launch_cost(launch, target)))) {
    for (const ModelIterator& iterator : model.iterators) {
      if (!iterator.spatial) continue;
      const bool may_cut = moves_all_stores(model, choices_.next_id());
      choices_.push_back(may_cut ? numbers_of_parts(iterator.extent, target.cores.count)
                                 : std::vector<std::int64_t>{1});
    }
    CutDimensions cut = cut_dimensions(model, choices_);
    of_buffer_ = std::move(cut.of_buffer);
    of_stage_ = std::move(cut.of_stage);
    for (const StageId s : of_stage_.ids()) {
      const bool in_place = model.buffers[model.buffer_of_output[s]].shares_with.has_value();
      compute_.push_back(LeastCompute(model.list->stages[s], in_place, target));
    }
  }

  [[nodiscard]] const GroupModel& model() const { return model_; }
  [[nodiscard]] const Target& target() const { return target_; }
  /// Numbers of parts of every spatial iterator.
  [[nodiscard]] const IdVector<IteratorId, std::vector<std::int64_t>>& choices() const { return choices_; }

  /// `choice` by spatial iterator, an index into its choices; `sharing` by buffer, none given: by each core for itself.
  /// Without a tiling: under the best that there could be, all transfers hideable.
  [[nodiscard]] LeastParts least_parts(const GridChoice& choice, const IdVector<BufferId, SharedBy>& sharing,
                                       const IdVector<StageId, StagePoints>& computing,
                                       const GridTiling* tiling = nullptr) const {
    const std::int64_t of_row = cores_of_split_sum(model_);
    std::int64_t cores = of_row;
    bool leaves_idle = false;  // some core moves nothing of its own
    for (const IteratorId i : choice.ids()) {
      const std::int64_t parts = choices_[i][choice[i]];
      cores *= parts;
      leaves_idle = leaves_idle || filled_parts(model_.iterators[i].extent, parts) < parts;
    }
    LeastParts least;
    least.blocking = launch_;
    std::int64_t bytes = 0, blocking = 0, hideable = 0;  // of any core; the last ones are transfers
    double moving = 0, of_one_core = 0;  // cycles of the engine; that one core takes for what it loads for others
    std::int64_t barriers = 0;           // of several, one serves those that are awaited one behind another
    for (const BufferId b : model_.buffers.ids()) {
      const ModelBuffer& buffer = model_.buffers[b];
      if (buffer.kind == ModelBuffer::Kind::intermediate) continue;
      const StageTensor& tensor = model_.list->tensors[buffer.tensor];
      const std::int64_t again = tiling != nullptr ? tiling->again[b] : 1;
      const SharedBy by = sharing.empty() ? SharedBy::core : sharing[b];
      // Of the cores that sum parts of the same outputs each loads what it needs, and one stores.
      const std::int64_t on_cores = buffer.kind == ModelBuffer::Kind::output ? 1 : of_row;
      const std::int64_t wanted = again * on_cores * elements(of_buffer_[b], choice, by) * byte_size(tensor.type);
      const std::int64_t moved = wanted / cores_of(by, cores, target_);
      const std::int64_t block = run(of_buffer_[b], tensor, choice, tiling != nullptr ? &tiling->extents[b] : nullptr) *
                                 byte_size(tensor.type);
      bytes += moved;
      const bool hides = tiling == nullptr || tiling->slots[b] > 1;
      if (tiling != nullptr) {
        const OwnMoves own = own_moves(b, tiling->extents[b], choice);
        const std::int64_t fills = again * own.fills;
        std::int64_t& starts = hides ? hideable : blocking;
        starts = target_.dma.issue_cycles > 0 ? std::max(starts, fills) : starts + fills;
        if (by == SharedBy::core) {
          const bool by_each = !leaves_idle && on_cores == of_row;
          const double calls = by_each ? static_cast<double>(again * own.calls) * target_.dma.issue_cycles : 0;
          (hides ? least.issuing : least.blocking) += calls;
        } else if (tiling->meeting[b] && by == SharedBy::column) {
          const ColumnBroadcast& rates = target_.cores.column_broadcast.value();
          const auto registers = static_cast<double>(again * own.elements * byte_size(tensor.type)) / bytes_of_register;
          least.blocking += static_cast<double>(fills) * rates.start_cycles + registers * rates.vector_cycles;
        } else if (tiling->meeting[b]) {
          barriers = std::max(barriers, fills);
        }
      }
      if (moved <= 0) continue;
      const double cycles = static_cast<double>(moved) / best_dma_bandwidth(target_, block) * target_.clock_hz;
      moving += cycles;
      (hides ? least.hideable : least.blocking) += cycles;
      if (moved == wanted || target_.dma.core_bytes_per_second <= 0) continue;
      // It takes what each of the others wants; beside that theirs may move.
      const auto mean = static_cast<double>(wanted) / static_cast<double>(cores);
      of_one_core = std::max(of_one_core, mean / target_.dma.core_bytes_per_second * target_.clock_hz);
    }
    least.hideable += std::max(0.0, of_one_core - moving);
    // The core that moves most bytes moves at least the mean. Which of its transfers block that does not tell.
    const std::int64_t mean = bytes / cores / std::max<std::int64_t>(1, target_.ldm.available());
    const auto is_single = [](int slots) { return slots == 1; };
    const bool all_block = tiling != nullptr && std::all_of(tiling->slots.begin(), tiling->slots.end(), is_single);
    (all_block ? blocking : hideable) += std::max<std::int64_t>(0, mean - blocking - hideable);
    least.blocking += static_cast<double>(blocking) * target_.dma.startup_cycles;
    least.blocking += static_cast<double>(barriers) * target_.cores.barrier_cycles;
    least.starting += static_cast<double>(hideable) * target_.dma.startup_cycles;
    for (const StageId s : of_stage_.ids()) {
      const BufferId output = model_.buffer_of_output[s];
      const std::int64_t again = tiling != nullptr ? tiling->again[output] : 1;
      const TileReach reach = tiling != nullptr ? reach_of(s, *tiling) : TileReach{};
      least.computed += static_cast<double>(again) * compute_[s].cycles(computing[s], reach);
    }
    return least;
  }

  /// Points of every stage, each computed once.
  [[nodiscard]] IdVector<StageId, StagePoints> computing(const GridChoice& choice) const {
    IdVector<StageId, StagePoints> points;
    for (const StageId s : of_stage_.ids()) points.push_back(points_of(s, choice));
    return points;
  }

  [[nodiscard]] GridTiling tiling_of(const ReadSchedule& schedule, const IdVector<BufferId, int>& slots) const {
    GridTiling tiling;
    const IteratorSizes parts = parts_of(schedule.parallel);
    tiling.slots = slots.empty() ? IdVector<BufferId, int>(model_.buffers.size(), 1) : slots;
    tiling.sizes = schedule.sizes;
    tiling.meeting.assign(model_.buffers.size(), true);
    for (const BufferId b : model_.buffers.ids()) {
      tiling.again.push_back(times_again(schedule, b, parts));
      tiling.extents.push_back(buffer_extents(model_, b, schedule.sizes, schedule.residents));
    }
    return tiling;
  }

  /// Nothing for a split that is none of the choices.
  [[nodiscard]] std::optional<GridChoice> choice_of(const std::vector<ParallelSplit>& parallel) const {
    const IteratorSizes parts = parts_of(parallel);
    GridChoice choice;
    for (const IteratorId i : parts.ids()) {
      const auto found = std::find(choices_[i].begin(), choices_[i].end(), parts[i]);
      if (found == choices_[i].end()) return std::nullopt;
      choice.push_back(static_cast<std::size_t>(found - choices_[i].begin()));
    }
    return choice;
  }

 private:
  /// By spatial iterator.
  [[nodiscard]] IteratorSizes parts_of(const std::vector<ParallelSplit>& parallel) const {
    IteratorSizes parts(choices_.size(), 1);
    for (const ParallelSplit& split : parallel) {
      const IteratorId i = model_.iterator_named(split.iterator).value();
      if (parts.contains(i)) parts[i] = split.parts;
    }
    return parts;
  }

  /// Trips, on the core that makes fewest, of the loops around a buffer's place that do not move it.
  [[nodiscard]] std::int64_t times_again(const ReadSchedule& schedule, BufferId b, const IteratorSizes& parts) const {
    const std::set<IteratorId>& moving = model_.buffers[b].moved_by;
    std::int64_t again = 1;
    for (const std::size_t l : loops_around(schedule, b)) {
      const OuterLoop& loop = schedule.loop(l);
      if (moving.contains(loop.iterator)) continue;
      const IteratorId i = loop.iterator;
      const std::int64_t cores = parts.contains(i) ? parts[i] : 1;
      const std::int64_t shortest = model_.iterators[i].extent - (cores - 1) * schedule.ranges[i];
      again *= std::max<std::int64_t>(1, ceil_div(shortest, schedule.sizes[i]));
    }
    return again;
  }

  /// What stands inside a reduction of its own stage is where that stage is computed, and in the stage's loops.
  [[nodiscard]] std::vector<std::size_t> loops_around(const ReadSchedule& schedule, BufferId b) const {
    const ModelBuffer& buffer = model_.buffers[b];
    std::vector<std::size_t> path = path_of(model_, schedule.order, buffer);
    path.resize(schedule.depth[b]);
    const auto is_own = [&](std::size_t l) {
      const ModelIterator& iterator = model_.iterators[schedule.loop(l).iterator];
      return !iterator.spatial && iterator.stage == buffer.stage;
    };
    if (path.empty() || buffer.stage == model_.main || !is_own(path.back())) return path;
    std::erase_if(path, [&](std::size_t l) { return !is_own(l); });
    const BufferId output = model_.buffer_of_output[buffer.stage];
    const std::vector<std::size_t> outside = loops_around(schedule, output);
    path.insert(path.begin(), outside.begin(), outside.end());
    return path;
  }

  /// What every core with a part moves of a buffer.
  struct OwnMoves {
    std::int64_t elements = 0;  ///< at least
    std::int64_t fills = 0;     ///< of the buffer at least: no box has two values further apart than its extent
    std::int64_t calls = 0;     ///< at least
  };
  [[nodiscard]] OwnMoves own_moves(BufferId b, const std::vector<std::int64_t>& extents,
                                   const GridChoice& choice) const {
    const std::vector<CutDimension>& dimensions = of_buffer_[b];
    if (several_move_one(dimensions)) return {};
    OwnMoves own{1, 1, 0};
    std::uint64_t used = 0;  // by iterator: where one moves two dimensions, not all values of both are needed together
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      const CutDimension& dimension = dimensions[d];
      if (!dimension.moved_by.empty()) {
        const std::uint64_t bit = std::uint64_t{1} << (dimension.moved_by.front().index() % 64);
        if ((used & bit) != 0) continue;
        used |= bit;
      }
      const std::int64_t needed = dimension.moved_by.empty()
                                      ? dimension.whole.count
                                      : dimension.by_choice[choice[dimension.moved_by.front()]].least;
      own.elements *= needed;
      own.fills *= ceil_div(needed, std::max<std::int64_t>(1, extents[d]));
    }
    const StageTensor& tensor = model_.list->tensors[model_.buffers[b].tensor];
    own.calls = std::max(own.fills, ceil_div(own.elements, most_of_call(tensor, extents)));
    return own;
  }

  /// At least so many elements are needed of a buffer, over all cores. Those without a part take what others load, and
  /// load nothing by themselves.
  [[nodiscard]] std::int64_t elements(const std::vector<CutDimension>& dimensions, const GridChoice& choice,
                                      SharedBy by) const {
    std::int64_t all = 1;
    IdVector<IteratorId, bool> used(choice.size(), false);
    for (const CutDimension& dimension : dimensions) {
      if (dimension.moved_by.empty()) all *= dimension.whole.count;
      if (dimension.moved_by.size() != 1) continue;
      const IteratorId i = dimension.moved_by.front();
      const Cut& cut = dimension.by_choice[choice[i]];
      all *= used[i] ? cut.least : cut.sum;
      used[i] = true;
    }
    for (const IteratorId i : choice.ids()) {
      const std::int64_t parts = choices_[i][choice[i]];
      if (!used[i]) all *= by == SharedBy::core ? filled_parts(model_.iterators[i].extent, parts) : parts;
    }
    return several_move_one(dimensions) ? std::min<std::int64_t>(all, 1) : all;
  }

  /// At most so many elements of what a core needs lie one after the other in memory.
  [[nodiscard]] std::int64_t run(const std::vector<CutDimension>& dimensions, const StageTensor& tensor,
                                 const GridChoice& choice, const std::vector<std::int64_t>* extents) const {
    const std::vector<std::int64_t> strides = tensor.memory_strides();
    std::int64_t run = 1;
    for (std::size_t d = dimensions.size(); d-- > 0;) {
      if (tensor.shape[d] == 1) continue;
      if (strides[d] != run) break;
      const CutDimension& dimension = dimensions[d];
      std::int64_t length = tensor.shape[d];
      if (dimension.moved_by.empty()) length = dimension.whole.length();
      if (dimension.moved_by.size() == 1) length = dimension.by_choice[choice[dimension.moved_by.front()]].longest;
      if (extents != nullptr) length = std::min(length, (*extents)[d]);
      run *= std::max<std::int64_t>(1, length);
      if (length < tensor.shape[d]) break;
    }
    return run;
  }

  /// How far what is computed of a stage at once can reach.
  [[nodiscard]] TileReach reach_of(StageId s, const GridTiling& tiling) const {
    const Stage& stage = model_.list->stages[s];
    const std::vector<std::int64_t>& extents = tiling.extents[model_.buffer_of_output[s]];
    TileReach reach{1, 1, 1};
    if (stage.spatial > 0) {
      reach.lanes = extents[stage.spatial - 1];
      reach.rows = *std::max_element(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(stage.spatial));
    }
    for (VarId axis(stage.spatial); axis.index() < stage.axes.size(); ++axis)
      reach.reduced *= tiling.sizes[model_.iterator_of(s, axis).value()];
    return reach;
  }

  [[nodiscard]] StagePoints points_of(StageId s, const GridChoice& choice) const {
    std::int64_t points = 1;
    IdVector<IteratorId, bool> used(choice.size(), false);
    std::int64_t lane = 1;
    for (const CutDimension& axis : of_stage_[s]) {
      std::int64_t maximum = 1;
      lane = axis.whole.length();
      if (axis.moved_by.empty()) maximum = axis.whole.count;
      if (axis.moved_by.size() == 1) {
        const IteratorId i = axis.moved_by.front();
        maximum = used[i] ? axis.by_choice[choice[i]].least : axis.by_choice[choice[i]].maximum;
        lane = axis.by_choice[choice[i]].longest;
        used[i] = true;
      }
      points *= maximum;
    }
    if (several_move_one(of_stage_[s])) return {};
    return {points, std::max(lane, lane_of_buffer(s, choice))};
  }

  /// The form of a loop follows from the extents of its buffer, which may be longer than what is ever computed there.
  [[nodiscard]] std::int64_t lane_of_buffer(StageId s, const GridChoice& choice) const {
    const Stage& stage = model_.list->stages[s];
    if (stage.spatial == 0) return 1;
    const std::int64_t whole = stage.axes[stage.spatial - 1].extent;
    if (whole < shortest_vector_loop(target_)) return whole;
    IteratorSizes ranges;
    for (const ModelIterator& iterator : model_.iterators) {
      const IteratorId i = ranges.next_id();
      const std::int64_t parts = choice.contains(i) ? choices_[i][choice[i]] : 1;
      ranges.push_back(std::max<std::int64_t>(1, ceil_div(iterator.extent, parts)));
    }
    const ModelBuffer& output = model_.buffers[model_.buffer_of_output[s]];
    return std::min(whole, buffer_extents(model_, output, ranges).back());
  }

  const GroupModel& model_;
  const Target& target_;
  const double launch_;                                      ///< cycles
  IdVector<IteratorId, std::vector<std::int64_t>> choices_;  ///< of the spatial ones
  IdVector<BufferId, std::vector<CutDimension>> of_buffer_;  ///< by dimension
  IdVector<StageId, std::vector<CutDimension>> of_stage_;    ///< by spatial axis
  IdVector<StageId, LeastCompute> compute_;
};

PlanBounds::PlanBounds(const GroupModel& model, const Target& target, LaunchedBy launch)
    : least_(std::make_unique<const LeastCost>(model, target, launch)) {}

PlanBounds::~PlanBounds() = default;

std::int64_t PlanBounds::least_cycles(const ReadSchedule& schedule, const IdVector<BufferId, int>& slots,
                                      const IdVector<BufferId, SharedBy>& sharing) const {
  return over(schedule.parallel).least_cycles(schedule, slots, sharing);
}

GridBounds PlanBounds::over(const std::vector<ParallelSplit>& parallel) const {
  GridBounds bounds;
  bounds.least_ = least_.get();
  bounds.choice_ = least_->choice_of(parallel);
  if (bounds.choice_) bounds.computing_ = least_->computing(*bounds.choice_);
  return bounds;
}

std::int64_t GridBounds::least_cycles(const GridTiling& tiling, const IdVector<BufferId, SharedBy>& sharing) const {
  return choice_ ? least_->least_parts(*choice_, sharing, computing_, &tiling).overlapped() : 0;
}

std::int64_t GridBounds::least_cycles(const ReadSchedule& schedule, const IdVector<BufferId, int>& slots,
                                      const IdVector<BufferId, SharedBy>& sharing) const {
  return choice_ ? least_cycles(least_->tiling_of(schedule, slots), sharing) : 0;
}

std::vector<CoreGrid> PlanBounds::grids() const {
  const GroupModel& model = least_->model();
  const auto& choices = least_->choices();
  std::vector<CoreGrid> grids;
  GridChoice choice(choices.size(), 0);
  const std::function<void(IteratorId, std::int64_t)> cut = [&](IteratorId i, std::int64_t left) {
    if (choices.contains(i)) {
      for (choice[i] = 0; choice[i] < choices[i].size(); ++choice[i]) {
        const std::int64_t parts = choices[i][choice[i]];
        if (parts <= left) cut(IteratorId(i.index() + 1), left / parts);
      }
      return;
    }
    std::vector<ParallelSplit> parallel;
    bool has_idle_cores = false;
    for (const IteratorId at : choice.ids()) {
      const std::int64_t parts = choices[at][choice[at]];
      if (parts > 1) parallel.push_back({model.iterators[at].name, parts});
      has_idle_cores = has_idle_cores || filled_parts(model.iterators[at].extent, parts) < parts;
    }
    if (model.split_sum) parallel.push_back({model.iterators[model.split_sum->parts].name, cores_of_split_sum(model)});
    const IdVector<StageId, StagePoints> computing = least_->computing(choice);
    for (CoreGrid& grid : orders_of(model, parallel, least_->target())) {
      if (has_idle_cores && std::ranges::all_of(grid.sharing, [](SharedBy by) { return by == SharedBy::core; }))
        continue;
      const LeastParts least = least_->least_parts(choice, grid.sharing, computing);
      grid.least_cycles = least.one_after_the_other();
      grid.least_overlapped = least.overlapped();
      grids.push_back(std::move(grid));
    }
  };
  cut(IteratorId(0), least_->target().cores.count / cores_of_split_sum(model));
  std::ranges::stable_sort(grids, {}, &CoreGrid::least_cycles);
  return grids;
}

}  // namespace stowage
