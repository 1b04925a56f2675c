// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/block_alignment.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/check.h"
#include "lowering/ir/mesh.h"
#include "lowering/ir/multiple_of.h"
#include "lowering/time/counts.h"

namespace stowage {
namespace {

/// One core of each team asks for what that gets.
std::int64_t cores_in_page(const LoopNest& nest, Space to, const IndexExpr& address, std::int64_t element_bytes,
                           std::int64_t page_bytes) {
  const std::int64_t team = to == Space::ldm ? 1 : Teams(nest, to).size();
  std::int64_t cores = 1;
  for (const CoreAxis& axis : nest.core_grid) {
    const std::int64_t step = address.coefficient_of(axis.variable);
    // Where the axis stands in a quotient or a remainder besides, its cores are taken to lie apart.
    if (mentions(address - IndexExpr(axis.variable) * step, axis.variable)) continue;
    const std::int64_t apart = std::abs(step) * element_bytes;
    // Of a row those that are a whole row apart; of a column those of the first row.
    const std::int64_t cores_of_axis = std::int64_t{axis.parts} * axis.stride;
    const std::int64_t apart_by =
        to == Space::column ? std::int64_t{nest.mesh->columns} / axis.stride : cores_of_axis / team;
    const std::int64_t asking = std::clamp<std::int64_t>(apart_by, 1, axis.parts);
    cores *= apart == 0 ? asking : std::clamp<std::int64_t>(page_bytes / apart, 1, asking);
  }
  return cores;
}

}  // namespace

BlockAlignment block_alignment(const LoopNest& nest, const Dma& dma, const Enclosing& around, const Target& target) {
  check(target.dma.lines.has_value(), "the alignment of blocks on a target that says nothing of lines");
  const NestTensor& tensor = nest.tensors[dma.nest_tensor];
  const std::int64_t element_bytes = byte_size(nest.buffers[dma.buffer].type);
  const DmaShape shape = shape_of(nest, dma);
  IndexExpr start;
  for (std::size_t d = 0; d < dma.region.size(); ++d) start += dma.region[d].start * tensor.strides[d];
  // A loop of one trip moves nothing.
  const IndexExpr address = substitute(around.expanded(start), [&](VarId v) {
    const Interval range = nest.variables[v.index()].range;
    return range.low == range.high ? IndexExpr(range.low) : IndexExpr(v);
  });

  const IndexExpr moving = address - IndexExpr(address.constant());
  std::int64_t step = std::max<std::int64_t>(1, target.main_memory.line_bytes / element_bytes);
  step = power_of_two_dividing(moving, step);
  for (std::size_t d = 0; d < shape.block_from; ++d) {
    if (shape.full[d] > 1) step = std::gcd(step, tensor.strides[d]);
  }
  const std::int64_t first = (address.constant() % step + step) % step;
  return {step * element_bytes, first * element_bytes,
          cores_in_page(nest, dma.to, address, element_bytes, target.dma.lines->page_bytes)};
}

}  // namespace stowage
