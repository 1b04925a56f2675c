// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/loop_paths.h"

#include <algorithm>
#include <iterator>

#include "lowering/swtvm/swtvm.h"

namespace stowage {

LoopPaths::LoopPaths(const GroupModel& model, const std::vector<LoopOrder>& orders) : model_(model) {
  for (const ModelBuffer& buffer : model.buffers) {
    IdVector<IteratorId, bool> moving(model.iterators.size(), false);
    for (const IteratorId i : buffer.moved_by) moving[i] = true;
    all_moving_.push_back(std::move(moving));
  }
  for (const LoopOrder& order : orders) {
    std::vector<OuterLoop> loops;
    for (const IteratorId i : order) loops.push_back({i, "", 2});
    auto& by_buffer = paths_.emplace_back();
    for (const ModelBuffer& buffer : model.buffers) {
      LoopOrder path;
      for (const std::size_t l : path_of(model, loops, buffer)) path.push_back(loops[l].iterator);
      by_buffer.push_back(std::move(path));
    }
  }
}

LoopOrder LoopPaths::loops_around(std::size_t order, BufferId b, const IdVector<IteratorId, bool>& has_loop,
                                  const IdVector<BufferId, std::set<IteratorId>>& moving) const {
  const ModelBuffer& buffer = model_.buffers[b];
  LoopOrder path;
  std::size_t depth = 0;
  for (const IteratorId i : paths_[order][b]) {
    if (!has_loop[i]) continue;
    path.push_back(i);
    if (moving[b].contains(i)) depth = path.size();
  }
  path.resize(depth);
  const auto is_own = [&](IteratorId i) {
    const ModelIterator& iterator = model_.iterators[i];
    return !iterator.spatial && iterator.stage == buffer.stage;
  };
  // What stands inside a reduction of its own stage is where that stage is computed, and in the stage's loops.
  if (path.empty() || buffer.stage == model_.main || !is_own(path.back())) return path;
  std::erase_if(path, [&](IteratorId i) { return !is_own(i); });
  const LoopOrder outside = loops_around(order, model_.buffer_of_output[buffer.stage], has_loop, moving);
  path.insert(path.begin(), outside.begin(), outside.end());
  return path;
}

std::vector<AlikeOrders> LoopPaths::found(const IdVector<IteratorId, bool>& has_loop,
                                          const IdVector<BufferId, std::set<IteratorId>>& moving) const {
  std::vector<AlikeOrders> kinds;
  std::map<std::vector<std::set<IteratorId>>, std::size_t> kind_of;
  // Of hundreds of orders few are left that differ where few iterators have a loop.
  std::map<std::vector<IteratorId>, std::size_t> kind_of_paths;
  const IteratorId end_of_path(has_loop.size());
  std::vector<IteratorId> left;
  for (std::size_t order = 0; order < paths_.size(); ++order) {
    left.clear();
    for (const LoopOrder& path : paths_[order]) {
      std::copy_if(path.begin(), path.end(), std::back_inserter(left), [&](IteratorId i) { return has_loop[i]; });
      left.push_back(end_of_path);
    }
    const auto [paths, is_new_path] = kind_of_paths.try_emplace(left);
    if (is_new_path) {
      std::vector<std::set<IteratorId>> again;
      for (const BufferId b : model_.buffers.ids()) {
        auto& of_buffer = again.emplace_back();
        for (const IteratorId i : loops_around(order, b, has_loop, moving)) {
          if (!all_moving_[b][i]) of_buffer.insert(i);
        }
      }
      const auto [known, is_new] = kind_of.try_emplace(again, kinds.size());
      if (is_new) {
        AlikeOrders& kind = kinds.emplace_back();
        for (const std::set<IteratorId>& of_buffer : again) kind.again.push_back({of_buffer.begin(), of_buffer.end()});
      }
      paths->second = known->second;
    }
    kinds[paths->second].orders.push_back(order);
  }
  return kinds;
}

const std::vector<AlikeOrders>& LoopPaths::alike(const IdVector<IteratorId, bool>& has_loop,
                                                 const IdVector<BufferId, std::set<IteratorId>>& moving) {
  std::vector<bool> key(has_loop.begin(), has_loop.end());
  for (const std::set<IteratorId>& of_buffer : moving) {
    const std::size_t begin = key.size();
    key.resize(begin + has_loop.size());
    for (const IteratorId i : of_buffer) key[begin + i.index()] = true;
  }
  const auto [known, is_new] = known_.try_emplace(std::move(key));
  if (is_new) known->second = found(has_loop, moving);
  return known->second;
}

IdVector<BufferId, std::int64_t> times_again(const AlikeOrders& orders, const IteratorSizes& trips) {
  IdVector<BufferId, std::int64_t> again;
  for (const LoopOrder& of_buffer : orders.again) {
    std::int64_t times = 1;
    for (const IteratorId i : of_buffer) times *= trips[i];
    again.push_back(times);
  }
  return again;
}

}  // namespace stowage
