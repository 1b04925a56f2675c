// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/least_compute.h"

#include <algorithm>

#include "lowering/ir/compute_form.h"
#include "lowering/time/inner_loop.h"
#include "lowering/time/rates.h"

namespace stowage {
namespace {

/// Of a point, by the inner loop's instructions or at the target's rate.
double cycles_of_point(const Stage& stage, Compute::Part part, std::int64_t most_lanes, bool ends_sum,
                       const Target& target) {
  const bool long_enough = most_lanes >= shortest_vector_loop(target);
  const bool gathers = target.cores.pipelines && (may_block_registers(stage, part) || may_gather_lanes(stage, part));
  const bool vectors = long_enough && (gathers || may_run_along_lane(stage, part));
  const double at_rate =
      static_cast<double>(operations_of(stage, part)) / operations_per_cycle(target, result_type(stage, part), vectors);
  if (!target.cores.pipelines) return at_rate;
  return std::max(at_rate, least_cycles_of_point(stage, part, target, most_lanes, ends_sum));
}

}  // namespace

double least_compute_cycles(const Stage& stage, std::int64_t points, std::int64_t most_lanes, bool ends_sum,
                            const Target& target) {
  std::int64_t updates = points;
  for (std::size_t a = stage.spatial; a < stage.axes.size(); ++a) updates *= stage.axes[a].extent;
  const auto part = stage.reduction == Reduction::none ? Compute::Part::map : Compute::Part::update;
  double cycles = static_cast<double>(updates) * cycles_of_point(stage, part, most_lanes, ends_sum, target);
  if (stage.finish)
    cycles += static_cast<double>(points) * cycles_of_point(stage, Compute::Part::finish, most_lanes, ends_sum, target);
  return cycles;
}

}  // namespace stowage
