// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/core_orders.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "lowering/model/sharing.h"

namespace stowage {

std::vector<CoreGrid> orders_of(const GroupModel& model, const std::vector<ParallelSplit>& parallel,
                                const Target& target) {
  const std::int64_t cores = core_parts(parallel);
  if ((!target.dma.row_broadcast && !sends_down_columns(target)) || cores % target.cores.mesh_columns != 0) {
    // No whole rows, so that nothing is loaded together in any order (why_not_shared). Most grids are such.
    return {{parallel, IdVector<BufferId, SharedBy>(model.buffers.size(), SharedBy::core)}};
  }
  std::vector<CoreGrid> grids;
  std::vector<std::size_t> order(parallel.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // The parts of a split sum count fastest, along a row.
  const auto movable = order.end() - (model.split_sum ? 1 : 0);
  do {
    CoreGrid grid;
    for (const std::size_t i : order) grid.parallel.push_back(parallel[i]);
    for (const BufferId b : model.buffers.ids()) {
      grid.sharing.push_back(widest_sharing(model, b, grid.parallel, target));
    }
    const auto offers_no_more = [&](const CoreGrid& other) {
      return std::equal(grid.sharing.begin(), grid.sharing.end(), other.sharing.begin(), std::less_equal<>());
    };
    if (std::none_of(grids.begin(), grids.end(), offers_no_more)) grids.push_back(std::move(grid));
  } while (std::next_permutation(order.begin(), movable));
  return grids;
}

}  // namespace stowage
