// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/rates.h"

#include <algorithm>

#include "core/athread_machine.h"
#include "core/check.h"
#include "lowering/ir/sliding_windows.h"

namespace stowage {

namespace {

double bandwidth_of_curve(const std::vector<BandwidthPoint>& points, std::int64_t block_bytes) {
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

/// Lines that a block touches, and those of them of which it covers a part only.
struct TouchedLines {
  std::int64_t all = 0;
  std::int64_t partial = 0;
};

TouchedLines touched_lines(std::int64_t start, std::int64_t bytes, std::int64_t line) {
  const std::int64_t end = start + bytes;
  const std::int64_t all = (end + line - 1) / line - start / line;
  const std::int64_t first = start % line != 0 ? 1 : 0;
  const std::int64_t last = end % line != 0 ? 1 : 0;
  return {all, all == 1 ? std::max(first, last) : first + last};
}

/// Of main memory, for one block: the mean over where in a line blocks begin.
double seconds_of_block(const Target& target, DmaDirection direction, std::int64_t block_bytes,
                        const BlockAlignment& alignment) {
  const LineRates& rates = *target.dma.lines;
  const std::int64_t line = target.main_memory.line_bytes;
  const double least = rates.block_seconds / static_cast<double>(alignment.cores_in_page);
  const double line_seconds = static_cast<double>(line) / rates.bytes_per_second;
  double seconds = 0;
  std::int64_t starts = 0;
  for (std::int64_t start = alignment.first_start; start < line; start += alignment.start_step) {
    const TouchedLines touched = touched_lines(start, block_bytes, line);
    double block = static_cast<double>(touched.all) * line_seconds;
    if (direction == DmaDirection::put) block += static_cast<double>(touched.partial) * rates.partial_line_seconds;
    seconds += std::max(least, block);
    ++starts;
  }
  return seconds / static_cast<double>(starts);
}

}  // namespace

double dma_bandwidth(const Target& target, DmaDirection direction, std::int64_t block_bytes,
                     const BlockAlignment& alignment) {
  if (!target.dma.lines) return bandwidth_of_curve(target.dma.bandwidth, block_bytes);
  return static_cast<double>(block_bytes) / seconds_of_block(target, direction, block_bytes, alignment);
}

double best_dma_bandwidth(const Target& target, std::int64_t block_bytes) {
  if (target.dma.lines) {
    const auto line = static_cast<double>(target.main_memory.line_bytes);
    return target.dma.lines->bytes_per_second * std::min(1.0, static_cast<double>(block_bytes) / line);
  }
  double best = bandwidth_of_curve(target.dma.bandwidth, block_bytes);
  for (const auto& point : target.dma.bandwidth) {
    if (point.block_bytes <= block_bytes) best = std::max(best, point.bytes_per_second);
  }
  return best;
}

double peak_dma_bandwidth(const Target& target) {
  if (target.dma.lines) return target.dma.lines->bytes_per_second;
  double best = 1;
  for (const BandwidthPoint& point : target.dma.bandwidth) best = std::max(best, point.bytes_per_second);
  return best;
}

double operations_per_cycle(const Target& target, ElementType type, bool vectors) {
  return (vectors ? target.cores.vector_flops_per_cycle : target.cores.scalar_flops_per_cycle).of(type);
}

bool fills_in_vectors(const LoopNest& nest, const Fill& fill, const Target& target) {
  const Buffer& buffer = nest.buffers[fill.buffer];
  return target.cores.vector_lanes == lanes_of_floatv4 && !fill.around && buffer.type == ElementType::f32 &&
         buffer.offset % bytes_of_floatv4 == 0 && (buffer.slots == 1 || buffer.slot_bytes() % bytes_of_floatv4 == 0);
}

namespace {

/// Of a sliding window, around whose moved elements the fill is: each is loaded and stored.
std::int64_t moving_stores(const LoopNest& nest, const Fill& fill, std::int64_t elements, const Target& target) {
  if (!fill.around) return 0;
  const auto moving = std::find_if(fill.around->begin(), fill.around->end(),
                                   [](const Range& range) { return !range.extent.is_constant(); });
  const auto dimension = static_cast<std::size_t>(moving - fill.around->begin());
  const std::int64_t lanes = target.cores.vector_lanes;
  const bool vectors = moving != fill.around->end() && moves_in_vectors(nest.buffers[fill.buffer], dimension, lanes);
  return 2 * elements / (vectors ? lanes : 1);
}

}  // namespace

std::int64_t fill_stores(const LoopNest& nest, const Fill& fill, std::int64_t elements, const Target& target) {
  if (fill.slides_along) return moving_stores(nest, fill, elements, target);
  if (fill.in_registers) return 0;
  if (!fills_in_vectors(nest, fill, target)) return elements;
  const std::int64_t each = element_count(nest.buffers[fill.buffer].extents);
  const std::int64_t lanes = target.cores.vector_lanes;
  return each == 0 ? 0 : elements / each * (each / lanes + each % lanes);
}

}  // namespace stowage
