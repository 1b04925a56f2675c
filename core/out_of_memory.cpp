// SPDX-License-Identifier: Apache-2.0
#include "core/out_of_memory.h"

#include <new>
#include <stdexcept>
#include <system_error>

namespace stowage {

namespace {

bool is_out_of_memory(const std::exception& fault) {
  if (dynamic_cast<const std::bad_alloc*>(&fault) != nullptr) return true;
  if (dynamic_cast<const std::length_error*>(&fault) != nullptr) return true;
  const auto* const system = dynamic_cast<const std::system_error*>(&fault);
  return system != nullptr && (system->code() == std::errc::resource_unavailable_try_again ||
                               system->code() == std::errc::not_enough_memory);
}

}  // namespace

bool report_out_of_memory(const std::exception& fault, SourceLocation location, Diagnostics& diagnostics) {
  if (!is_out_of_memory(fault)) return false;
  diagnostics.error("out-of-memory", std::move(location), "this needs more memory than there is",
                    "use a smaller network, batch or --dim, or a machine with more memory");
  return true;
}

}  // namespace stowage
