// SPDX-License-Identifier: Apache-2.0
// A compilation as one self-contained HTML page: no script, font or picture comes from elsewhere, so it can be mailed,
// archived and read offline. It is well-formed XML as well.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "driver/report/details.h"
#include "driver/session/session.h"

namespace stowage {

struct PagePicture {
  std::string title;
  std::string svg;      ///< an <svg> element; "" where there is none
  std::string missing;  ///< why, as a sentence
};

/// The pictures of a compilation, drawn by Graphviz; those that cannot be drawn say why. One for which Graphviz finds
/// no layout within `layout_time` is drawn in a simpler one, with a warning. Graphviz ends when a stop is requested.
std::vector<PagePicture> page_pictures(const Compilation& compilation, std::chrono::milliseconds layout_time,
                                       Diagnostics& diagnostics, std::stop_token stop = {});

/// Of more fused operators than `details` those that take the most time are told in full; the others have their row in
/// the table of fused operators, and the page says how to get the rest. A page that was stopped is not whole.
std::string report_page(const Compilation& compilation, const std::vector<PagePicture>& pictures,
                        std::size_t details = usual_details, const std::stop_token& stop = {});

}  // namespace stowage
