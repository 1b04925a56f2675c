// SPDX-License-Identifier: Apache-2.0
// What of a core's LDM is left for buffers. Behind them a kernel keeps its parameters, an address of every tensor in
// main memory, and the words in which transfers reply. `ldm.reserved` is meant to hold these and the stack; where it is
// less than they need, buffers still leave them room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/model/group_model.h"

namespace stowage {

/// Of the parameter struct, which is fetched by DMA as a whole: in bytes, at least that of an address.
int alignment_of_parameters(const Target& target);

/// Words that the transfers of a nest reply in: one for every DMA statement, and of buffers that are awaited by slots
/// one for every slot.
std::size_t reply_words(const LoopNest& nest);

/// Bytes that a kernel of so many tensors in main memory and so many reply words keeps behind its buffers.
std::int64_t parameter_bytes(std::size_t tensors, std::size_t replies_of_transfers, const Target& target);

/// Bytes that buffers may take. That of a group is the same for all nests with these slots (by buffer, none given: one
/// each): one transfer a buffer, or as many reply words as slots.
std::int64_t ldm_for_buffers(const GroupModel& model, const Target& target, const IdVector<BufferId, int>& slots = {});
std::int64_t ldm_for_buffers(const LoopNest& nest, const Target& target);

}  // namespace stowage
