// SPDX-License-Identifier: Apache-2.0
// Names side by side in a sentence.
#pragma once

#include <string>
#include <vector>

namespace stowage {

/// "A", "A and B", "A, B and C"; "nothing" of none.
std::string listed(const std::vector<std::string>& names);

}  // namespace stowage
