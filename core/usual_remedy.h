// SPDX-License-Identifier: Apache-2.0
// What to do about an operator that is refused, where the place that refuses it knows no better.
#pragma once

#include <string>
#include <string_view>

namespace stowage {

/// By the diagnostic's code; `kind` is the operator. Never empty.
std::string usual_remedy(std::string_view code, std::string_view kind);

}  // namespace stowage
