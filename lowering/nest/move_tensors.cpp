// SPDX-License-Identifier: Apache-2.0
#include "lowering/nest/move_tensors.h"

#include "core/check.h"
#include "lowering/nest/passes.h"

namespace stowage {

LoopNest move_tensors(LoopNest nest, const StageList& stages, const Target& target) {
  check(nest.stages.tensors.size() == stages.tensors.size(), "a nest is moved to stages of its own form");
  for (const StageTensorId t : stages.tensors.ids()) {
    StageTensor& tensor = nest.stages.tensors[t];
    const StageTensor& there = stages.tensors[t];
    check(tensor.shape == there.shape && tensor.type == there.type && tensor.role == there.role,
          "a nest is moved to stages of its own form");
    tensor.source = there.source;
    tensor.value = there.value;
    tensor.strides = there.strides;
    tensor.packing = there.packing;
  }
  for (NestTensor& tensor : nest.tensors) {
    const StageTensor& there = stages.tensors[tensor.tensor];
    tensor.strides = there.memory_strides();
  }
  return set_dma_units(std::move(nest), target);
}

}  // namespace stowage
