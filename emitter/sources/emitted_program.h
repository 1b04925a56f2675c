// SPDX-License-Identifier: Apache-2.0
// What emission makes of a program, whichever family it is for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/id_vector.h"
#include "core/ids.h"

namespace stowage {

/// Which source line belongs to which statement of which step.
struct LineOrigin {
  int line = 0;           ///< from 1
  StepId step;            ///< the first that uses the kernel
  StatementId statement;  ///< of the step's plan
};

struct EmittedFile {
  std::string path;  ///< relative to src/
  std::string text;
  std::vector<LineOrigin> origins;
};

struct EmittedProgram {
  std::vector<EmittedFile> files;                ///< without params.bin
  IdVector<StepId, std::string> kernel_of_step;  ///< name of what each step launches; "" for a view
  std::int64_t arena_bytes = 0;  ///< of the scratchpad: the largest kernel's data and what it keeps behind
};

}  // namespace stowage
