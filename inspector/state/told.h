// SPDX-License-Identifier: Apache-2.0
// A diagnostic in a line of the window.
#pragma once

#include <string>

#include "core/diagnostics.h"

namespace stowage::inspector {

/// "what is wrong; what to do about it".
inline std::string told(const Diagnostic& diagnostic) {
  return diagnostic.message + (diagnostic.remedy.empty() ? "" : "; " + diagnostic.remedy);
}

}  // namespace stowage::inspector
