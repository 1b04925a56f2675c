// SPDX-License-Identifier: Apache-2.0
// What a target says of a vendor's library (docs/target.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stowage {

/// What a library reaches, as a share of the peak of all cores, in products whose smallest extent is so large.
struct LibraryPoint {
  std::int64_t extent = 0;
  double share = 0;
};

/// A vendor's library that the management core calls and that starts kernels of its own: its matrix product of float32,
/// which is called as CBLAS has it.
struct Library {
  std::string name;
  std::string header;                    ///< that declares it, "cblas.h"
  std::string sgemm;                     ///< its name in C
  std::string link;                      ///< what the linker is told, "-lxmath"
  double call_seconds = 0;               ///< from the call to the return, of a product of next to nothing
  std::vector<LibraryPoint> efficiency;  ///< ascending extents, at least one
};

class Diagnostics;  // core/diagnostics.h
struct Target;      // core/target.h

/// Null where the target has none of that name.
const Library* find_library(const Target& target, std::string_view name);
std::vector<std::string> library_names(const Target& target);
/// Has programs call it, or reports that the target has none of that name.
void use_library(Target& target, const std::string& name, Diagnostics& diagnostics);

}  // namespace stowage
