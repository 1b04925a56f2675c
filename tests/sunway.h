// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/check.h"
#include "core/diagnostics.h"
#include "core/target.h"

namespace stowage::fixtures {

/// The SW26010 as it comes with Stowage, with settings as --set gives them.
inline Target sunway(const std::vector<std::string>& settings = {}) {
  Diagnostics diagnostics;
  auto target = load_target("sw26010", settings, diagnostics);
  check(static_cast<bool>(target), format_diagnostics(diagnostics));
  return *std::move(target);
}

}  // namespace stowage::fixtures
