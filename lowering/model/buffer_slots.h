// SPDX-License-Identifier: Apache-2.0
// Which buffers of a group may have several slots, so that they are moved while something else is computed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lowering/model/group_model.h"

namespace stowage {

/// The most that a buffer can use: one is moved while one is computed with.
inline constexpr int max_slots = 2;

/// Slots by buffer where a schedule gives those of tensors (else one): what lies over an output has as many.
IdVector<BufferId, int> slots_by_buffer(const GroupModel& model, const std::map<std::string, int>& of_tensors);

/// Why a buffer has to have one slot, whatever the schedule, as the end of a sentence that begins with its name; empty
/// if it has not.
std::string why_one_slot(const GroupModel& model, BufferId buffer);

}  // namespace stowage
