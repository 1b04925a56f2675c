// SPDX-License-Identifier: Apache-2.0
// A step of a replay as one picture: the strip of phases, the sentence, the algorithm with the lit line, the loop nest
// and the LDM as they stand, the values.
#pragma once

#include "inspector/draw/drawing.h"
#include "inspector/look/look.h"
#include "inspector/replay/replay.h"

namespace stowage::inspector {

/// Two columns, or one under the other where the room is narrow. Higher than the room where the text asks for it.
Drawing replay_picture(const Replay& replay, std::size_t step, const Look& look, QSizeF room);
/// A size that holds every step at this width, so that a sequence of pictures does not jump.
QSizeF replay_size(const Replay& replay, const Look& look, QSizeF room);

}  // namespace stowage::inspector
