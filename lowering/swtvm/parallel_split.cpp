// SPDX-License-Identifier: Apache-2.0
// The parallel split of swTVM (section 5.4), with what groups of several stages add to it.
#include <algorithm>

#include "lowering/model/idle_parts.h"
#include "lowering/swtvm/swtvm.h"

namespace stowage {
namespace {

class GridSearch {
 public:
  GridSearch(const GroupModel& model, int cores) : model_(model) {
    for (const ModelIterator& iterator : model.iterators) {
      ranges_.push_back(std::max<std::int64_t>(1, iterator.extent));
      if (iterator.spatial) extents_.push_back(std::max<std::int64_t>(1, iterator.extent));
    }
    parts_.assign(extents_.size(), 1);
    best_ = parts_;
    // fuse: dimensions are combined from the highest downwards until they are large enough for the cores to be
    // balanced; lower ones, which would shorten the blocks that DMA moves, stay whole. The 4 is the algorithm's, for
    // any machine: of n elements for each core the busiest has at most one more, here a quarter.
    constexpr std::int64_t elements_per_core = 4;
    for (std::int64_t size = 1; fused_ < extents_.size() && size < elements_per_core * cores; ++fused_)
      size *= extents_[fused_];
    if (model.root != StageId() && !extents_.empty()) fused_ = std::max(fused_, extents_.size() - 1);
    search(0, cores);
  }

  [[nodiscard]] std::vector<ParallelSplit> best() const {
    std::vector<ParallelSplit> split;
    for (std::size_t d = 0; d < extents_.size(); ++d) {
      if (best_[d] > 1) split.push_back({model_.iterators[IteratorId(d)].name, best_[d]});
    }
    return split;
  }

 private:
  /// Highest dimension first and most parts first, so that the first of equal grids is the published one.
  void search(std::size_t d, std::int64_t left) {
    if (d == extents_.size()) {
      const std::int64_t now = work();
      if (best_work_ >= 0 && now >= best_work_) return;
      best_work_ = now;
      best_ = parts_;
      return;
    }
    const std::int64_t extent = extents_[d];
    const bool may_cut = d < fused_ && moves_all_stores(model_, IteratorId(d));
    for (std::int64_t p = may_cut ? std::min(left, extent) : 1; p >= 1; --p) {
      const std::int64_t chunk = ceil_div(extent, p);
      if (filled_parts(extent, p) != p) continue;  // the same chunks come with fewer parts
      parts_[d] = p;
      ranges_[IteratorId(d)] = chunk;
      search(d + 1, left / p);
    }
    parts_[d] = 1;
    ranges_[IteratorId(d)] = extent;
  }

  /// Operations of the busiest core.
  [[nodiscard]] std::int64_t work() const {
    std::int64_t all = 0;
    for (StageId stage; stage <= model_.root; ++stage) all += stage_operations(model_, stage, ranges_);
    return all;
  }

  const GroupModel& model_;
  std::vector<std::int64_t> extents_;  ///< of the spatial iterators
  IteratorSizes ranges_;               ///< of every iterator on one core of the grid that is looked at
  std::vector<std::int64_t> parts_, best_;
  std::int64_t best_work_ = -1;
  std::size_t fused_ = 0;  ///< dimensions that may be cut
};

}  // namespace

std::vector<ParallelSplit> split_over_cores(const GroupModel& model, int cores) {
  if (!model.split_sum) return GridSearch(model, cores).best();
  const ModelIterator& parts = model.iterators[model.split_sum->parts];
  std::vector<ParallelSplit> split = GridSearch(model, cores / static_cast<int>(parts.extent)).best();
  split.push_back({parts.name, parts.extent});
  return split;
}

IteratorSizes core_ranges(const GroupModel& model, const std::vector<ParallelSplit>& parallel) {
  IteratorSizes ranges;
  for (const ModelIterator& iterator : model.iterators) {
    std::int64_t parts = 1;
    for (const ParallelSplit& split : parallel) {
      if (split.iterator == iterator.name) parts = split.parts;
    }
    ranges.push_back(std::max<std::int64_t>(1, ceil_div(iterator.extent, parts)));
  }
  return ranges;
}

}  // namespace stowage
