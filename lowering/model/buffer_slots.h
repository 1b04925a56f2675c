// SPDX-License-Identifier: Apache-2.0
// Which buffers of a group may have several slots, so that they are moved while something else is computed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lowering/model/group_model.h"

namespace stowage {

/// One is moved while one is computed with: what planners give a buffer that is moved beside computation.
inline constexpr int double_buffer_slots = 2;
/// The most that a schedule may give a buffer: with three and four, two and three are on their way, which helps where
/// trips take unequally long, or transfers little longer than to start up.
inline constexpr int max_slots = 4;

/// Slots by buffer where a schedule gives those of tensors (else one): what lies over an output has as many.
IdVector<BufferId, int> slots_by_buffer(const GroupModel& model, const std::map<std::string, int>& of_tensors);

/// Why a buffer has to have one slot, whatever the schedule, as the end of a sentence that begins with its name; empty
/// if it has not.
std::string why_one_slot(const GroupModel& model, BufferId buffer);

}  // namespace stowage
