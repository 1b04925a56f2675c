// SPDX-License-Identifier: Apache-2.0
// Emission of a program as Athread C for SW26010 (docs/emitted-code.md describes the files).
#pragma once

#include "emitter/sources/emitted_program.h"
#include "lowering/program/program.h"

namespace stowage {

EmittedProgram emit_athread(const Program& program);

}  // namespace stowage
