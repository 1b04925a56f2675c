// SPDX-License-Identifier: Apache-2.0
// One compute-core source file: the kernel of a loop nest.
#pragma once

#include <string>
#include <vector>

#include "core/target.h"
#include "emitter/athread/c_writer.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// A field of a kernel's parameter struct: a tensor in main memory.
struct KernelParameter {
  std::string name;
  std::string type;  ///< C type of an element
};

struct KernelText {
  std::vector<CLine> lines;
  IdVector<NestTensorId, KernelParameter> parameters;
  std::int64_t ldm_bytes = 0;  ///< of the kernel's LDM struct, as C lays it out
};

/// A layer that a kernel serves, for its header comment.
struct KernelUser {
  std::string layer;
  IdVector<NestTensorId, std::string> tensors;  ///< their names
};

/// Threads that a launch starts: one on every core of the mesh, however few of them a plan uses.
int threads_of_launch(const Target& target);

/// Text of the file NAME.s.c with the function NAME.
KernelText emit_kernel(const LoopNest& nest, const Target& target, const std::string& name,
                       const std::vector<KernelUser>& users);

/// The same with every name replaced by its position and without comments: equal for two nests exactly if one kernel
/// can serve both.
std::string canonical_kernel(const LoopNest& nest, const Target& target);

}  // namespace stowage
