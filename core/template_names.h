// SPDX-License-Identifier: Apache-2.0
// The templates that need no file: no template of a person may have these names.
#pragma once

#include <string_view>

namespace stowage {

/// Of an operator that stands alone.
inline constexpr std::string_view single_template = "single";
/// Of an operator that only re-indexes, so that nothing is launched for it.
inline constexpr std::string_view view_template = "view";

}  // namespace stowage
