// SPDX-License-Identifier: Apache-2.0
// A program's main memory: where what its steps compute with lies, and, on this host, the bytes themselves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/tensor.h"
#include "lowering/program/program.h"

namespace stowage {

/// Bytes of one area.
struct MemoryRange {
  MemoryAllocation::Area area = MemoryAllocation::Area::parameters;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

/// Where a tensor of the graph lies.
MemoryRange memory_range(const Program& program, TensorId tensor);
/// Where a tensor of memory_tensors() of a step's plan lies.
MemoryRange memory_range(const Program& program, StepId step, StageTensorId tensor);

/// A tensor of the graph from the bytes of its allocation, in which it may lie with gaps.
Tensor value_in_memory(const Graph& graph, TensorId tensor, std::vector<std::byte> bytes);

/// Both areas, for a family whose machine is played in this process.
class MemoryImage {
 public:
  /// As it is before the first step: parameters, and `inputs` by network input. The program must outlive it.
  MemoryImage(const Program& program, std::span<const Tensor> inputs);

  [[nodiscard]] std::span<std::byte> area(MemoryAllocation::Area area);
  /// A tensor that is in memory now.
  [[nodiscard]] Tensor value(TensorId tensor);

 private:
  const Program& program_;
  std::vector<std::byte> parameters_;
  std::vector<std::byte> activations_;
};

}  // namespace stowage
