// SPDX-License-Identifier: Apache-2.0
// Inputs that are loaded as they lie in main memory and copied to the box that their readers see, with the padding
// around it. A padded box has longer rows than its tensor, and a transfer fills contiguous places of the LDM: so it is
// brought row by row, of a 28 x 28 image 112 bytes at a time. Without the padding rows lie behind each other on both
// sides, and all of an image is one piece. What that costs is the copy, an instruction or two for each vector, and the
// room for both boxes. TVM pads convolutions in a stage of its own too ("data_pad"), in main memory.
#pragma once

#include <cstdint>
#include <variant>

#include "core/decision.h"
#include "core/stage.h"
#include "lowering/model/schedule.h"

namespace stowage {

/// Inputs that are read with padding, wherever that may be copied.
CopiedInputs possible_copied_inputs(const StageList& stages);

/// Who reads a copy: those that pad alone, or others too, where they want nothing of a tile that those do not want.
/// (Plans of earlier versions have the first.)
enum class CopyReaders : std::uint8_t { that_pad, all };

/// The stages with a first one "X_copy" for every input X, whose result readers see in its place. One that is there
/// already is done. Refuses (rule "schedule") what is no input, what nobody pads, and what is looked up.
std::variant<StageList, Decision> copy_inputs(StageList stages, const CopiedInputs& inputs,
                                              CopyReaders readers = CopyReaders::all);

}  // namespace stowage
