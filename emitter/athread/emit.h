// SPDX-License-Identifier: Apache-2.0
// Emission of a program as Athread C for SW26010 (docs/emitted-code.md describes the files).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lowering/program/program.h"

namespace stowage {

/// Which source line belongs to which statement of which step's nest.
struct LineOrigin {
  int line = 0;       ///< from 1
  int step = 0;       ///< index into Program::steps (of the first step that uses the kernel)
  int statement = 0;  ///< Stmt::id
};

struct EmittedFile {
  std::string path;  ///< relative to src/
  std::string text;
  std::vector<LineOrigin> origins;
};

struct EmittedProgram {
  std::vector<EmittedFile> files;           ///< docs/emitted-code.md lists them; without params.bin
  std::vector<std::string> kernel_of_step;  ///< name of the compute-core function of each step; "" for a view
  std::int64_t arena_bytes = 0;             ///< of LDM: the largest kernel's buffers and its parameters behind them
};

EmittedProgram emit_athread(const Program& program);

/// The bytes of params.bin: constants at their offsets in the parameter area.
std::vector<std::byte> parameter_bytes(const Program& program);

}  // namespace stowage
