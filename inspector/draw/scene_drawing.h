// SPDX-License-Identifier: Apache-2.0
// Pictures that the report has too (driver/drawing), as the window shows them.
#pragma once

#include "driver/drawing/sheet.h"
#include "inspector/draw/drawing.h"
#include "inspector/look/look.h"

namespace stowage::inspector {

/// The window's fonts and units, and a room.
drawing::Sheet sheet_of(const Look& look, QSizeF room);
QColor color_of(drawing::Ink ink, const Theme& theme);

/// The same shapes in the theme's colours; what they stand for is a subject of the plan.
Drawing drawn(const drawing::Scene& scene, const Look& look);

}  // namespace stowage::inspector
