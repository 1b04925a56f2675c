// SPDX-License-Identifier: Apache-2.0
// Random sharing of inputs between cores for property tests.
#pragma once

#include <algorithm>

#include "lowering/model/sharing.h"
#include "lowering/search/core_grids.h"
#include "lowering/swtvm/swtvm.h"
#include "operator_draw.h"

namespace stowage::fixtures {

/// The same machine with a small mesh, the rows of which load together.
inline Target with_mesh(OperatorDraw& draw, Target target) {
  target.cores.mesh_rows = static_cast<int>(draw.between(1, 3));
  target.cores.mesh_columns = static_cast<int>(draw.between(2, 4));
  target.cores.count = target.cores.mesh_rows * target.cores.mesh_columns;
  target.cores.barrier_cycles = static_cast<double>(draw.between(0, 50));
  target.dma.row_broadcast = true;
  if (draw.coin()) {
    target.cores.column_broadcast = ColumnBroadcast{static_cast<double>(draw.between(0, 20)), 2};
    target.ldm.alignment = std::max(target.ldm.alignment, 32);
  }
  return target;
}

/// What is fixed, over a grid on which cores can load together, where there is one: most inputs by as many as can.
inline Schedule random_sharing(OperatorDraw& draw, const GroupModel& model, const Target& target, Schedule fixed) {
  std::vector<CoreGrid> grids = core_grids(model, target);
  std::erase_if(grids, [](const CoreGrid& grid) {
    return std::all_of(grid.sharing.begin(), grid.sharing.end(), [](SharedBy by) { return by == SharedBy::core; });
  });
  if (grids.empty()) return fixed;
  const auto sends = [](const CoreGrid& grid) {
    return std::any_of(grid.sharing.begin(), grid.sharing.end(), [](SharedBy by) { return by == SharedBy::column; });
  };
  // Few grids let anything go down columns.
  if (std::any_of(grids.begin(), grids.end(), sends) && draw.coin())
    std::erase_if(grids, [&](const CoreGrid& grid) { return !sends(grid); });
  const CoreGrid& grid = grids[static_cast<std::size_t>(draw.between(0, static_cast<std::int64_t>(grids.size()) - 1))];
  fixed.parallel = grid.parallel;
  const IteratorSizes ranges = core_ranges(model, grid.parallel);
  for (const IteratorId i : ranges.ids()) {
    const auto size = fixed.buffer.find(model.iterators[i].name);
    if (size != fixed.buffer.end()) size->second = std::min(size->second, ranges[i]);
  }
  for (const BufferId b : model.buffers.ids()) {
    if (grid.sharing[b] == SharedBy::core || draw.between(0, 4) == 0) continue;
    fixed.sharing[model.buffers[b].name] =
        grid.sharing[b] == SharedBy::mesh && draw.coin() ? SharedBy::row : grid.sharing[b];
  }
  return fixed;
}

}  // namespace stowage::fixtures
