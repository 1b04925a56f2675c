// SPDX-License-Identifier: Apache-2.0
#include "lowering/program/memory_image.h"

#include <algorithm>

#include "core/check.h"
#include "core/storage_box.h"

namespace stowage {

MemoryRange memory_range(const Program& program, TensorId tensor) {
  const MemoryAllocation* const allocation = program.memory.find(tensor);
  check(allocation != nullptr, "a tensor without a place in main memory");
  return {allocation->area, allocation->offset, allocation->bytes};
}

MemoryRange memory_range(const Program& program, StepId step, StageTensorId tensor) {
  const StageTensor& wanted = program.steps[step].step_plan()->stages().tensors[tensor];
  if (const auto source = wanted.in_memory()) return memory_range(program, *source);
  const StageConstantAllocation* const allocation = program.memory.find_stage_constant(step, tensor);
  check(allocation != nullptr, "a constant without a place in main memory");
  return {MemoryAllocation::Area::parameters, allocation->offset, allocation->bytes};
}

Tensor value_in_memory(const Graph& graph, TensorId tensor, std::vector<std::byte> bytes) {
  const GraphTensor& wanted = graph.tensor(tensor);
  if (wanted.inside && !is_dense(wanted.shape, wanted.inside->strides)) {
    return gathered(wanted.type, wanted.shape, wanted.inside->strides, bytes);
  }
  return {wanted.type, wanted.shape, std::move(bytes)};
}

MemoryImage::MemoryImage(const Program& program, std::span<const Tensor> inputs)
    : program_(program),
      parameters_(parameter_bytes(program)),
      activations_(static_cast<std::size_t>(program.memory.activation_bytes)) {
  const Graph& graph = program.fused.graph;
  check(inputs.size() == graph.inputs().size(), "a program needs one value for each input of the network");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const MemoryRange range = memory_range(program, graph.inputs()[i]);
    std::ranges::copy(inputs[i].bytes(), area(range.area).begin() + range.offset);
  }
}

std::span<std::byte> MemoryImage::area(MemoryAllocation::Area area) {
  return area == MemoryAllocation::Area::parameters ? parameters_ : activations_;
}

Tensor MemoryImage::value(TensorId tensor) {
  const MemoryRange range = memory_range(program_, tensor);
  const auto bytes =
      area(range.area).subspan(static_cast<std::size_t>(range.offset), static_cast<std::size_t>(range.bytes));
  return value_in_memory(program_.fused.graph, tensor, {bytes.begin(), bytes.end()});
}

}  // namespace stowage
