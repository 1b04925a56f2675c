// SPDX-License-Identifier: Apache-2.0
// Where the lines of an emitted source went when somebody edited it.
#pragma once

#include <string>
#include <vector>

#include "emitter/sources/emitted_program.h"

namespace stowage {

/// The origins of those lines that `after` still has, at their new places (longest common subsequence of lines), and of
/// those that were edited and stand between the same lines.
std::vector<LineOrigin> moved_origins(const std::vector<LineOrigin>& origins, const std::string& before,
                                      const std::string& after);

}  // namespace stowage
