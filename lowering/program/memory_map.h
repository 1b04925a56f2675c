// SPDX-License-Identifier: Apache-2.0
// Where the tensors of a program lie in main memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/id_vector.h"
#include "core/ids.h"
#include "fusion/groups/fused_graph.h"

namespace stowage {

struct ProgramStep;  // lowering/program/program.h

/// Where a tensor lies in main memory.
struct MemoryAllocation {
  TensorId tensor;
  enum class Area : std::uint8_t { parameters, activations } area = Area::activations;
  std::int64_t offset = 0;  ///< bytes from the start of the area; a multiple of the DRAM line if it shares with nobody
  std::int64_t bytes = 0;   ///< from its first element to its last, gaps included
  /// First and last use, as times and not as ids, so that they can be compared and drawn: -1 is before the first step
  /// (inputs are there then), the number of steps after the last (outputs are wanted then).
  int first_step = 0;
  int last_step = 0;
  std::optional<TensorId> shares_with;  ///< lies in that tensor's memory (GraphTensor::inside)
};

/// Where a constant lies that the stages of a step introduce themselves (StageTensor::value without a source) or that
/// they have packed, in the parameter area. Equal constants share one.
struct StageConstantAllocation {
  StepId step;
  StageTensorId tensor;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

struct MemoryMap {
  std::vector<MemoryAllocation> allocations;             ///< every tensor that is in memory, by TensorId
  std::vector<StageConstantAllocation> stage_constants;  ///< by step and tensor
  std::int64_t parameter_bytes = 0;
  std::int64_t activation_bytes = 0;
  [[nodiscard]] const MemoryAllocation* find(TensorId tensor) const;
  [[nodiscard]] const StageConstantAllocation* find_stage_constant(StepId step, StageTensorId tensor) const;
};

/// Static map of main memory: parameters in one area, activations in another with lifetimes, views sharing. What the
/// planned steps neither read nor write is not in memory, unless it is an input or output of the network.
MemoryMap plan_memory(const FusedGraph& fused, const IdVector<StepId, ProgramStep>& steps, int line_bytes);

}  // namespace stowage
