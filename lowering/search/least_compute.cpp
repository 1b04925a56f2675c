// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/least_compute.h"

#include <algorithm>

#include "lowering/ir/compute_form.h"
#include "lowering/time/rates.h"

namespace stowage {

LeastCompute::LeastCompute(const Stage& stage, bool ends_sum, const Target& target)
    : lanes_(std::max(1, target.cores.vector_lanes)), shortest_(shortest_vector_loop(target)) {
  for (std::size_t a = stage.spatial; a < stage.axes.size(); ++a) updates_ *= static_cast<double>(stage.axes[a].extent);
  body_ =
      part_of(stage, stage.reduction == Reduction::none ? Compute::Part::map : Compute::Part::update, ends_sum, target);
  if (stage.finish) finish_ = part_of(stage, Compute::Part::finish, ends_sum, target);
}

/// Of a point, by the inner loop's instructions or at the target's rate.
LeastCompute::OfPart LeastCompute::part_of(const Stage& stage, Compute::Part part, bool ends_sum,
                                           const Target& target) {
  const bool gathers = target.cores.pipelines && (may_block_registers(stage, part) || may_gather_lanes(stage, part));
  const auto at_rate = [&](bool vectors) {
    return static_cast<double>(operations_of(stage, part)) /
           operations_per_cycle(target, result_type(stage, part), vectors);
  };
  OfPart made;
  made.scalar = at_rate(false);
  made.vectors = made.at_rate = at_rate(gathers || may_run_along_lane(stage, part));
  if (!target.cores.pipelines) return made;
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  const double scalar = least_cycles_of_point(stage, part, target, 1, ends_sum);
  made.scalar = std::max(made.scalar, scalar);
  made.vectors = std::max(made.vectors, least_cycles_of_point(stage, part, target, any, ends_sum));
  made.groups = block_groups(stage, part, target);
  return made;
}

double LeastCompute::OfPart::cycles(const TileReach& tile, std::int64_t shortest, std::int64_t lanes) const {
  if (tile.lanes < shortest) return scalar;
  if (groups.empty() || tile.is_any()) return vectors;
  // A part that is summed in register blocks is so wherever its rows are long enough.
  double least = scalar;
  for (const BlockGroup& group : groups) {
    if (group.rows > std::max<std::int64_t>(1, tile.rows) || (group.vectors - 1) * lanes >= tile.lanes) continue;
    const double entry = group.entry / static_cast<double>(std::max<std::int64_t>(1, tile.reduced));
    least = std::min(least, (group.trip + entry) / static_cast<double>(group.rows * group.vectors * lanes));
  }
  return std::max(at_rate, least);
}

double LeastCompute::cycles(const StagePoints& of, const TileReach& tile) const {
  TileReach most = tile;
  if (!tile.is_any() || of.most_lanes < shortest_) most.lanes = std::min(most.lanes, of.most_lanes);
  const auto points = static_cast<double>(of.points);
  double cycles = points * updates_ * body_.cycles(most, shortest_, lanes_);
  if (finish_) cycles += points * finish_->cycles(most, shortest_, lanes_);
  return cycles;
}

}  // namespace stowage
