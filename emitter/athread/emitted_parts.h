// SPDX-License-Identifier: Apache-2.0
// What an emitted program consists of: kernels, each once for all steps that it serves, the steps' functions on the
// management core, and which kernels one spawn runs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "emitter/athread/emit_management.h"
#include "emitter/athread/kernel.h"
#include "lowering/program/program.h"

namespace stowage {

/// A step that launches a kernel, as the management core sees it.
struct Layer {
  StepId step;
  std::size_t kernel = 0;  ///< index into EmittedParts::kernels
  std::string function;
  IdVector<NestTensorId, std::string> tensors;  ///< parameter names, unique within the layer
  std::optional<std::size_t> spawn;             ///< index into EmittedParts::spawns; none where it is spawned by itself
};

struct Kernel {
  std::string name;
  StepId first_step;
  std::vector<KernelUser> users;
};

/// Kernels that one spawn runs one after the other, with barriers between.
struct Spawn {
  std::string function;             ///< on the management core
  std::string kernels;              ///< the function on the compute cores that runs them
  std::vector<std::size_t> layers;  ///< indices into EmittedParts::layers, at least two
};

struct EmittedParts {
  std::vector<Layer> layers;          ///< in execution order
  std::vector<ManagedLayer> managed;  ///< by step
  std::vector<Kernel> kernels;
  std::vector<Spawn> spawns;  ///< of more than one kernel

  [[nodiscard]] const Kernel& kernel_of(const Layer& layer) const { return kernels[layer.kernel]; }
  /// Null where a layer is spawned by itself.
  [[nodiscard]] const Spawn* spawn_of(const Layer& layer) const {
    return layer.spawn ? &spawns[*layer.spawn] : nullptr;
  }
};

/// Steps that one kernel can serve have one. Names are C identifiers, unique in the program.
EmittedParts emitted_parts(const Program& program);

}  // namespace stowage
