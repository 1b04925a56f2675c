// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/rates.h"

#include <algorithm>

#include "core/check.h"

namespace stowage {

double dma_bandwidth(const Target& target, std::int64_t block_bytes) {
  const auto& points = target.dma.bandwidth;
  check(!points.empty(), "target without a bandwidth table");
  const double block = static_cast<double>(block_bytes);
  if (block_bytes <= points.front().block_bytes) {
    return points.front().bytes_per_second * block / static_cast<double>(points.front().block_bytes);
  }
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (block_bytes > points[i].block_bytes) continue;
    const double from = static_cast<double>(points[i - 1].block_bytes);
    const double to = static_cast<double>(points[i].block_bytes);
    const double share = (block - from) / (to - from);
    return points[i - 1].bytes_per_second + share * (points[i].bytes_per_second - points[i - 1].bytes_per_second);
  }
  return points.back().bytes_per_second;
}

double best_dma_bandwidth(const Target& target, std::int64_t block_bytes) {
  double best = dma_bandwidth(target, block_bytes);
  for (const auto& point : target.dma.bandwidth) {
    if (point.block_bytes <= block_bytes) best = std::max(best, point.bytes_per_second);
  }
  return best;
}

double operations_per_cycle(const Target& target, ElementType type, bool vectors) {
  return (vectors ? target.cores.vector_flops_per_cycle : target.cores.scalar_flops_per_cycle).of(type);
}

}  // namespace stowage
