// SPDX-License-Identifier: Apache-2.0
// Emitted sources held against headers with the vendor's signatures (tests/emitter/vendor): what the machine's own
// compilers would say of them.
#pragma once

#include <string>
#include <vector>

#include "emitter/athread/emit.h"

namespace stowage::test {

/// Compiles every C file of the programs without SW_EMULATION, the management core's and the compute cores' apart, with
/// gcc and with clang, every warning an error. What the compilers have to say; empty if nothing.
std::string complaints_of_vendor_headers(const std::vector<const EmittedProgram*>& programs);

}  // namespace stowage::test
