// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/core_grids.h"

#include <algorithm>
#include <optional>

#include "lowering/model/idle_parts.h"
#include "lowering/model/sharing.h"
#include "lowering/search/core_needs.h"
#include "lowering/search/core_orders.h"
#include "lowering/search/least_compute.h"
#include "lowering/search/least_parts.h"
#include "lowering/time/cost_table.h"
#include "lowering/time/inner_loop.h"
#include "lowering/time/rates.h"

namespace stowage {
namespace {

/// One dimension over the parts of the iterator that moves it.
struct Cut {
  std::int64_t sum = 0;      ///< of what the parts need
  std::int64_t least = 0;    ///< by one part
  std::int64_t maximum = 0;  ///< by one part
  std::int64_t longest = 0;  ///< hull of a part
};

/// A buffer's dimension or a stage's axis: which cut iterators move it, and what each way to cut them makes of it.
struct CutDimension {
  std::vector<IteratorId> moved_by;  ///< spatial iterators
  Reach whole;
  std::vector<Cut> by_choice;  ///< of the only iterator in moved_by
  std::vector<Cut> measured;   ///< the same of the iterator that is looked at
  Reach together;              ///< all iterators cut
};

}  // namespace

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
    add_dimensions();
    measure();
  }

  [[nodiscard]] const GroupModel& model() const { return model_; }
  [[nodiscard]] const Target& target() const { return target_; }
  /// Numbers of parts of every spatial iterator.
  [[nodiscard]] const IdVector<IteratorId, std::vector<std::int64_t>>& choices() const { return choices_; }

  /// `choice` by spatial iterator, an index into its choices; `sharing` by buffer, none given: by each core for itself.
  /// Without a tiling: under the best that there could be, all transfers hideable.
  [[nodiscard]] LeastParts least_parts(const GridChoice& choice, const IdVector<BufferId, SharedBy>& sharing,
                                       const IdVector<StageId, double>& computing,
                                       const GridTiling* tiling = nullptr) const {
    const std::int64_t of_row = cores_of_split_sum(model_);
    std::int64_t cores = of_row;
    for (const IteratorId i : choice.ids()) cores *= choices_[i][choice[i]];
    LeastParts least;
    least.blocking = launch_;
    std::int64_t bytes = 0, blocking = 0, hideable = 0;  // of any core; the last ones are transfers
    double moving = 0, of_one_core = 0;  // cycles of the engine; that one core takes for what it loads for others
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
        const std::int64_t fills = again * fillings(of_buffer_[b], tiling->extents[b], choice);
        std::int64_t& starts = hides ? hideable : blocking;
        starts = target_.dma.issue_cycles > 0 ? std::max(starts, fills) : starts + fills;
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
    least.starting += static_cast<double>(hideable) * target_.dma.startup_cycles;
    for (const StageId s : of_stage_.ids()) {
      const BufferId output = model_.buffer_of_output[s];
      const std::int64_t again = tiling != nullptr ? tiling->again[output] : 1;
      least.computed += static_cast<double>(again) * computing[s];
    }
    return least;
  }

  /// Cycles of every stage, each computed once.
  [[nodiscard]] IdVector<StageId, double> computing(const GridChoice& choice) const {
    IdVector<StageId, double> cycles;
    for (const StageId s : of_stage_.ids()) cycles.push_back(compute_cycles(s, choice));
    return cycles;
  }

  [[nodiscard]] std::int64_t cycles(const ReadSchedule& schedule, const IdVector<BufferId, int>& slots,
                                    const IdVector<BufferId, SharedBy>& sharing) const {
    GridTiling tiling;
    tiling.slots = slots.empty() ? IdVector<BufferId, int>(model_.buffers.size(), 1) : slots;
    for (const BufferId b : model_.buffers.ids()) {
      tiling.again.push_back(times_again(schedule, b, parts_of(schedule.parallel)));
      tiling.extents.push_back(buffer_extents(model_, b, schedule.sizes, schedule.residents));
    }
    const auto choice = choice_of(schedule.parallel);
    return choice ? least_parts(*choice, sharing, computing(*choice), &tiling).overlapped() : 0;
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
    const std::set<IteratorId> moving = model_.buffers[b].moved_by;
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

  /// Every core fills a buffer at least so many times with what it needs.
  [[nodiscard]] std::int64_t fillings(const std::vector<CutDimension>& dimensions,
                                      const std::vector<std::int64_t>& extents, const GridChoice& choice) const {
    if (several_move_one(dimensions)) return 0;
    std::int64_t needed = 1;
    std::int64_t box = 1;
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      const CutDimension& dimension = dimensions[d];
      needed *= dimension.moved_by.empty() ? dimension.whole.count
                                           : dimension.by_choice[choice[dimension.moved_by.front()]].least;
      box *= std::max<std::int64_t>(1, extents[d]);
    }
    return ceil_div(needed, box);
  }

  void add_dimensions() {
    for (const ModelBuffer& b : model_.buffers) of_buffer_.push_back(std::vector<CutDimension>(b.index.size()));
    for (const Stage& stage : model_.list->stages) of_stage_.push_back(std::vector<CutDimension>(stage.spatial));
  }

  template <class Visit>
  void for_each_dimension(const CoreNeeds& needs, const Visit& visit) {
    for (const BufferId b : of_buffer_.ids()) {
      if (model_.buffers[b].kind == ModelBuffer::Kind::intermediate) continue;
      for (std::size_t d = 0; d < of_buffer_[b].size(); ++d) {
        visit(of_buffer_[b][d], [&] { return needs.dimension(model_.buffers[b], d); });
      }
    }
    for (const StageId s : of_stage_.ids()) {
      for (std::size_t a = 0; a < of_stage_[s].size(); ++a) {
        visit(of_stage_[s][a], [&] { return needs.axis(s, a); });
      }
    }
  }

  /// What a core has of an iterator that no choice cuts; of the parts of a split sum one, and all need as much.
  [[nodiscard]] std::int64_t uncut(IteratorId i) const {
    return model_.split_sum && model_.split_sum->parts == i ? 1 : model_.iterators[i].extent;
  }

  void measure() {
    CoreNeeds needs(model_);
    IdVector<IteratorId, Interval> tiles;
    for (const IteratorId i : model_.iterators.ids()) tiles.push_back({0, uncut(i) - 1});
    needs.find(tiles);
    for_each_dimension(needs, [](CutDimension& dimension, const auto& reach) { dimension.whole = reach(); });
    for (const IteratorId i : choices_.ids()) {
      const std::int64_t extent = model_.iterators[i].extent;
      for (const std::int64_t parts : choices_[i]) {
        for_each_dimension(needs, [](CutDimension& dimension, const auto&) { dimension.measured.emplace_back(); });
        const std::int64_t size = ceil_div(extent, parts);
        for (std::int64_t part = 0; part < filled_parts(extent, parts); ++part) {
          tiles[i] = {part * size, std::min(extent, (part + 1) * size) - 1};
          needs.find(tiles);
          for_each_dimension(needs, [&](CutDimension& dimension, const auto& reach) {
            add(dimension.measured.back(), reach(), part == 0);
          });
        }
      }
      tiles[i] = {0, extent - 1};
      for_each_dimension(needs, [&](CutDimension& dimension, const auto&) {
        const bool moves = std::any_of(dimension.measured.begin(), dimension.measured.end(), [&](const Cut& cut) {
          return cut.least != dimension.whole.count || cut.longest != dimension.whole.length();
        });
        if (moves) {
          dimension.moved_by.push_back(i);
          dimension.by_choice = dimension.measured;
        }
        dimension.measured.clear();
      });
    }
    find_moved_by_several(needs);
  }

  /// A dimension that several iterators move together (two readers at unrelated places: what lies between them is
  /// needed too) is not seen by cutting one at a time, but by cutting all.
  void find_moved_by_several(CoreNeeds& needs) {
    const auto at_first = [&](std::optional<IteratorId> only) {
      IdVector<IteratorId, Interval> tiles;
      for (const IteratorId i : model_.iterators.ids()) {
        const bool cut = only ? i == *only : model_.iterators[i].spatial;
        tiles.push_back({0, cut ? std::min<std::int64_t>(0, model_.iterators[i].extent - 1) : uncut(i) - 1});
      }
      needs.find(tiles);
    };
    at_first(std::nullopt);
    for_each_dimension(needs, [](CutDimension& dimension, const auto& reach) { dimension.together = reach(); });
    const auto compare = [](CutDimension& dimension, const Reach& alone) {
      const Reach& together = dimension.together;
      if (!(alone.hull == together.hull) || alone.count != together.count) dimension.moved_by.assign(2, IteratorId());
    };
    for_each_dimension(needs, [&](CutDimension& dimension, const auto&) {
      if (dimension.moved_by.empty()) compare(dimension, dimension.whole);
    });
    for (const IteratorId i : choices_.ids()) {
      at_first(i);
      for_each_dimension(needs, [&](CutDimension& dimension, const auto& reach) {
        if (dimension.moved_by == std::vector<IteratorId>{i}) compare(dimension, reach());
      });
    }
  }

  static void add(Cut& cut, const Reach& reach, bool first) {
    cut.sum += reach.count;
    cut.least = first ? reach.count : std::min(cut.least, reach.count);
    cut.maximum = std::max(cut.maximum, reach.count);
    cut.longest = std::max(cut.longest, reach.length());
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

  /// A dimension that several iterators move may need nothing on some core: nothing is known of such a buffer.
  [[nodiscard]] static bool several_move_one(const std::vector<CutDimension>& dimensions) {
    return std::any_of(dimensions.begin(), dimensions.end(),
                       [](const CutDimension& dimension) { return dimension.moved_by.size() > 1; });
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

  [[nodiscard]] double compute_cycles(StageId s, const GridChoice& choice) const {
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
    if (several_move_one(of_stage_[s])) return 0;
    const bool in_place = model_.buffers[model_.buffer_of_output[s]].shares_with.has_value();
    return least_compute_cycles(model_.list->stages[s], points, std::max(lane, lane_of_buffer(s, choice)), in_place,
                                target_);
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
};

PlanBounds::PlanBounds(const GroupModel& model, const Target& target, LaunchedBy launch)
    : least_(std::make_unique<const LeastCost>(model, target, launch)) {}

PlanBounds::~PlanBounds() = default;

std::int64_t PlanBounds::least_cycles(const ReadSchedule& schedule, const IdVector<BufferId, int>& slots,
                                      const IdVector<BufferId, SharedBy>& sharing) const {
  return least_->cycles(schedule, slots, sharing);
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
    const IdVector<StageId, double> computing = least_->computing(choice);
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
