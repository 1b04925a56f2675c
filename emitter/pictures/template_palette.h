// SPDX-License-Identifier: Apache-2.0
// Colours of fusion templates, the same in every picture and window. The fills are Paul Tol's "light" scheme, made for
// cells with dark text and distinct to colour-blind readers; where there are more templates than colours the border
// tells them apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stowage {

struct TemplateLook {
  enum class Border : std::uint8_t { solid, dashed, dotted } border = Border::solid;
  std::string fill;  ///< "#rrggbb", light
};

/// Of a built-in template by its place in greedy's order; "single" and "view" are grey; a name that is not built in
/// gets a look by the sum of its characters.
TemplateLook look_of_template(std::string_view name);

}  // namespace stowage
