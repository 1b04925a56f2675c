// SPDX-License-Identifier: Apache-2.0
// Manual pages, as man reads them.
#pragma once

#include <string>
#include <vector>

#include "driver/manual/outline.h"

namespace stowage {

struct ManualPage {
  std::string file;  ///< "stowage-compile.1"
  std::string text;
};

/// A page of the program, then one of each command.
std::vector<ManualPage> manual_pages(const ProgramOutline& program);

}  // namespace stowage
