// SPDX-License-Identifier: Apache-2.0
#include "core/out_of_memory.h"

#include <new>
#include <stdexcept>

namespace stowage {

bool report_out_of_memory(const std::exception& fault, SourceLocation place, Diagnostics& diagnostics) {
  if (dynamic_cast<const std::bad_alloc*>(&fault) == nullptr &&
      dynamic_cast<const std::length_error*>(&fault) == nullptr) {
    return false;
  }
  diagnostics.error("out-of-memory", std::move(place), "this needs more memory than there is",
                    "use a smaller network, batch or --dim, or a machine with more memory");
  return true;
}

}  // namespace stowage
