// SPDX-License-Identifier: Apache-2.0
// Programs made from bare stage lists, and emitted sources compiled and run with the stub of tests/emitter/stub.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "emitter/emit.h"
#include "lowering/planner.h"

namespace stowage::fixtures {

/// A stage list as a program of one step, planned by swtvm. Tensors of role input and constants with a source become
/// the graph's. `fixed` may fix any part of the schedule.
Program program_of(const std::string& name, StageList stages, const Target& target, const Schedule& fixed = {});
/// The same with a nest that is there already.
Program program_of(LoopNest nest, const Target& target);

/// A new empty folder below the build folder.
std::filesystem::path scratch_folder(const std::string& name);

struct StubRun {
  std::string log;                  ///< of compiler and program; empty where neither had anything to say
  std::vector<Tensor> outputs;      ///< of the program, in order
  std::map<int, DmaTotals> counts;  ///< of the first step, by Stmt::id of the Dma: transfers, operations and bytes
};

/// Writes, compiles ("gcc" or "clang", with the warnings that emitted code promises to pass) and runs.
StubRun compile_and_run(const Program& program, const EmittedProgram& emitted, const std::vector<Tensor>& inputs,
                        const std::string& compiler);

/// Random values of every network input, the same for the same seed.
std::vector<Tensor> random_inputs(const Program& program, unsigned seed);

}  // namespace stowage::fixtures
