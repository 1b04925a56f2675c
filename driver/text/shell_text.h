// SPDX-License-Identifier: Apache-2.0
// Command lines to be shown: what a person copies into a shell.
#pragma once

#include <string>

namespace stowage {

/// An argument as a shell reads it, quoted only where it must be.
std::string shell_quoted(const std::string& argument);

}  // namespace stowage
