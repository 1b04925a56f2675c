// SPDX-License-Identifier: Apache-2.0
// Pictures as SVG inside of the report's page, whose style says what inks and fonts look like.
#pragma once

#include <functional>
#include <string>

#include "driver/drawing/sheet.h"

namespace stowage {

/// A sheet whose fonts are the page's, without a title: headings of the page stand above its pictures.
drawing::Sheet page_sheet(double width, double height);

/// Where a click on what stands for something leads: "#step-3"; "" for nowhere.
using LinkOf = std::function<std::string(const drawing::Subject& subject)>;

std::string to_svg(const drawing::Scene& scene, const LinkOf& link = {});

}  // namespace stowage
