// SPDX-License-Identifier: Apache-2.0
// The buffers of a nest as the model of its stages knows them. A nest that was read from a folder may list them in
// another order, or more than the model has.
#pragma once

#include <optional>
#include <string>

#include "lowering/ir/loop_nest.h"
#include "lowering/model/group_model.h"

namespace stowage {

/// The model's buffer from which the computations are served that use a buffer of the nest. Null for one that none
/// uses.
const ModelBuffer* model_buffer_of(const LoopNest& nest, const GroupModel& model, BufferId buffer);

/// Name of the tensor that a buffer of the nest holds, with a number where the model has several buffers of it.
const std::string& name_of_buffer(const LoopNest& nest, const GroupModel& model, BufferId buffer);

/// Whether a buffer of the nest holds another part of its tensor in every iteration over `iterator`.
bool moves_with(const LoopNest& nest, const GroupModel& model, BufferId buffer, const std::string& iterator);

}  // namespace stowage
