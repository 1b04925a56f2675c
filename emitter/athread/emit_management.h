// SPDX-License-Identifier: Apache-2.0
// Steps of the management core as C: for each a function of plain loops (lowering/program/management_plan.h).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/id_vector.h"
#include "emitter/athread/c_writer.h"
#include "lowering/program/management_plan.h"
#include "lowering/program/program.h"

namespace stowage {

/// A step that the management core computes, or calls a library for, as the main program calls it.
struct ManagedLayer {
  StepId step;
  std::string function;
  std::vector<StageTensorId> parameters;         ///< tensors in main memory, in their order
  IdVector<StageTensorId, std::string> tensors;  ///< names, unique within the function
  IdentifierPool names;                          ///< that these were taken from
};

ManagedLayer managed_layer(StepId step, std::string function, const StepPlan& plan);

/// "void layer_y(float *t_X, float *t_Y)".
std::string prototype_of(const ManagedLayer& layer, const StepPlan& plan);

/// The function, with its comment; LAYER_DONE is where the emulation takes what it has written.
void write_managed_layer(CWriter& out, const ManagedLayer& layer, const ManagementPlan& plan);

}  // namespace stowage
