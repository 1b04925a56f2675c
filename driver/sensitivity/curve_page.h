// SPDX-License-Identifier: Apache-2.0
// A curve as a picture, and as a page that can be mailed.
#pragma once

#include <string>

#include "driver/drawing/sheet.h"
#include "driver/sensitivity/curve.h"

namespace stowage {

/// Time, DMA bytes, LDM peak and fused operators against the value, as parts of their largest; its knees with their
/// numbers, the plan's own value, and a cross where there is no plan. The same for page and window. Of a curve that has
/// a plan. The items of its shapes are points of the curve.
drawing::Scene curve_chart(const Curve& curve, const drawing::Sheet& sheet);

/// `reproducer` says what the plan was made by, `command_line` what the page was.
std::string curve_page(const Curve& curve, const std::string& command_line, const std::string& reproducer);

}  // namespace stowage
