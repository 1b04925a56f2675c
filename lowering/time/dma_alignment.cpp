// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/dma_alignment.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "core/storage_box.h"
#include "lowering/ir/multiple_of.h"
#include "lowering/ir/prover.h"
#include "lowering/time/counts.h"

namespace stowage {
namespace {

constexpr std::int64_t max_values = 200'000;
/// A rule about networks, not about a machine: narrower types are those of images and masks at their rims.
const int word_bytes = byte_size(ElementType::f32);

class AlignmentCheck {
 public:
  AlignmentCheck(const LoopNest& nest, const Target& target) : nest_(nest), target_(target), prover_(nest) {}

  std::vector<UnalignedTransfer> run() {
    visit_statements(nest_.body, [&](const Stmt& stmt) {
      const auto* fill = std::get_if<Fill>(&stmt.node);
      if (fill != nullptr && fill->around) padded_.insert(fill->buffer);
    });
    visit_with_enclosing(nest_, [&](const Stmt& stmt, const Enclosing& around) {
      if (const auto* loop = std::get_if<Loop>(&stmt.node)) prover_.enter(*loop, around);
      const auto* dma = std::get_if<Dma>(&stmt.node);
      if (dma == nullptr) return;
      const Buffer& buffer = nest_.buffers[dma->buffer];
      const int bytes = byte_size(buffer.type);
      if (bytes % target_.dma.alignment == 0) return;
      unit_ = target_.dma.alignment / bytes;
      const auto why = find_unaligned(*dma, buffer, around);
      if (!why) return;
      const NestTensor& tensor = nest_.tensors[dma->nest_tensor];
      unaligned_.push_back(
          {stmt.id, dma->direction, tensor.tensor, bytes,
           fmt::format("{} of {}: {}", dma->direction == DmaDirection::get ? "get" : "put", tensor.name, *why)});
    });
    return std::move(unaligned_);
  }

 private:
  using Reason = std::optional<std::string>;

  Reason find_unaligned(const Dma& dma, const Buffer& buffer, const Enclosing& around) const {
    const NestTensor& tensor = nest_.tensors[dma.nest_tensor];
    const DmaShape shape = shape_of(nest_, dma);
    const std::vector<IndexExpr>& origin = origin_of(nest_, dma.buffer);
    IndexExpr memory;
    IndexExpr ldm;
    for (std::size_t d = 0; d < dma.region.size(); ++d) {
      memory += dma.region[d].start * tensor.strides[d];
      if (buffer.extents[d] != 1) ldm += (dma.region[d].start - origin[d]) * shape.buffer_strides[d];
    }
    if (buffer.offset % target_.dma.alignment != 0) return "its buffer begins between two units";
    if (!always_multiple(memory, around)) return "it begins between two units of main memory";
    if (!always_multiple(ldm, around)) return "it begins between two units of the LDM";

    for (const DmaCallsWhere& possible : calls_where(shape, known_extents(dma))) {
      if (auto why = calls(dma, shape, possible.calls, memory, around)) return why;
    }
    return std::nullopt;
  }

  /// Of one structure: a call for every index of dimensions [0, strided_from).
  Reason calls(const Dma& dma, const DmaShape& shape, const DmaCalls& structure, const IndexExpr& memory,
               const Enclosing& around) const {
    const auto [strided_from, block_from] = structure;
    bool several = false;
    for (std::size_t d = 0; d < strided_from; ++d) {
      if (shape.full[d] <= 1) continue;
      several = true;
      if (shape.memory_strides[d] % unit_ != 0 || shape.buffer_strides[d] % unit_ != 0)
        return "its calls begin between two units";
    }
    const bool strided = structure.is_strided();
    // Of block and count together only the outermost dimension may be shorter than the full tile's (dma_shape.h).
    const bool shorter_count = strided && std::any_of(shape.full.begin() + static_cast<std::ptrdiff_t>(strided_from),
                                                      shape.full.begin() + static_cast<std::ptrdiff_t>(block_from),
                                                      [](std::int64_t extent) { return extent > 1; });
    IndexExpr block = 1;
    bool outermost = !shorter_count;
    for (std::size_t d = block_from; d < shape.full.size(); ++d) {
      if (shape.full[d] == 1) continue;
      if (outermost) {
        block = dma.region[d].extent;
        outermost = false;
      } else {
        block = block * shape.full[d];
      }
    }
    if (strided) {
      if (shape.gap % unit_ != 0) return "the gap between its blocks is no multiple";
      if (!always_multiple(block, around)) return "its blocks are no multiple";
      return std::nullopt;
    }
    if (always_multiple(block, around)) return std::nullopt;
    if (several) return "its calls are of a length that is no multiple";
    if (!ends_tensor(dma, memory, block, around)) return "it ends between two units inside of the tensor";
    return std::nullopt;
  }

  [[nodiscard]] bool always_multiple(const IndexExpr& e, const Enclosing& around) const {
    const Expression wanted = around.expression(e);
    if (is_multiple(wanted.expr, unit_)) return true;
    if (!tensor_values_of(wanted.expr).empty()) return false;
    return always(around, wanted.variables,
                  [&](std::span<const std::int64_t> values) { return wanted.compiled(values) % unit_ == 0; });
  }

  /// Whether a contiguous call ends at a whole unit or at its tensor's end, and with its buffer's last element.
  [[nodiscard]] bool ends_tensor(const Dma& dma, const IndexExpr& memory, const IndexExpr& length,
                                 const Enclosing& around) const {
    const NestTensor& tensor = nest_.tensors[dma.nest_tensor];
    const Buffer& buffer = nest_.buffers[dma.buffer];
    const std::int64_t size = box_reach(nest_.stages.tensors[tensor.tensor].shape, tensor.strides);
    // Padding stands behind what is moved, from before it is.
    if (padded_.contains(dma.buffer)) return false;
    const std::vector<IndexExpr>& origin = origin_of(nest_, dma.buffer);
    for (std::size_t d = 0; d < buffer.extents.size(); ++d) {
      if (buffer.extents[d] > 1 && !(dma.region[d].start == origin[d])) return false;
    }
    const Expression from = around.expression(memory);
    const Expression count = around.expression(length);
    if (!tensor_values_of(from.expr).empty()) return false;
    std::set<std::size_t> variables = from.variables;
    variables.insert(count.variables.begin(), count.variables.end());
    return always(around, variables, [&](std::span<const std::int64_t> values) {
      const std::int64_t elements = count.compiled(values);
      return elements <= 0 || elements % unit_ == 0 || from.compiled(values) + elements == size;
    });
  }

  [[nodiscard]] bool always(const Enclosing& around, const std::set<std::size_t>& variables,
                            const std::function<bool(std::span<const std::int64_t>)>& holds) const {
    bool all = true;
    const bool decided = prover_.enumerate(around, variables, max_values, [&](std::span<const std::int64_t> values) {
      all = holds(values);
      return all;
    });
    return decided && all;
  }

  const LoopNest& nest_;
  const Target& target_;
  Prover prover_;
  std::set<BufferId> padded_;  ///< buffers that hold padding
  std::int64_t unit_ = 1;      ///< elements of the transfer that is looked at
  std::vector<UnalignedTransfer> unaligned_;
};

}  // namespace

bool has_narrow_elements(const LoopNest& nest, const Target& target) {
  return std::any_of(nest.buffers.begin(), nest.buffers.end(),
                     [&](const Buffer& buffer) { return byte_size(buffer.type) % target.dma.alignment != 0; });
}

std::vector<UnalignedTransfer> unaligned_transfers(const LoopNest& nest, const Target& target) {
  return has_narrow_elements(nest, target) ? AlignmentCheck(nest, target).run() : std::vector<UnalignedTransfer>();
}

const UnalignedTransfer* find_refused(const std::vector<UnalignedTransfer>& unaligned) {
  const auto wide = std::find_if(unaligned.begin(), unaligned.end(),
                                 [](const UnalignedTransfer& t) { return t.element_bytes >= word_bytes; });
  return wide == unaligned.end() ? nullptr : &*wide;
}

}  // namespace stowage
