// SPDX-License-Identifier: Apache-2.0
// A replay for a lecture: a picture of every step, or one HTML page that needs nothing else.
#pragma once

#include <QString>

#include "inspector/look/look.h"
#include "inspector/replay/replay.h"

namespace stowage::inspector {

/// A page with one picture a step, buttons, arrow keys, and the sentence of every step as text. Loads nothing.
QByteArray lecture_page(const Replay& replay, const Look& look, QSizeF room);

/// "step-01.png" … in a folder, which is made. Replaces no file. Returns what went wrong, in a sentence; empty when
/// done.
QString write_step_pictures(const Replay& replay, const Look& look, QSizeF room, const QString& folder);

}  // namespace stowage::inspector
