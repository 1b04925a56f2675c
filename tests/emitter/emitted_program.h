// SPDX-License-Identifier: Apache-2.0
// Programs made from bare stage lists, and emitted sources compiled and run with the stub of tests/emitter/stub.
#pragma once

#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "emitter/athread/emit.h"
#include "lowering/program/program.h"
#include "tests/sunway.h"

namespace stowage::fixtures {

/// "" where there is no such file.
std::string read_text(const std::filesystem::path& path);
void write_bytes(const std::filesystem::path& path, const void* bytes, std::size_t size);

/// A stage list as a program of one step, planned by swtvm. Tensors of role input and constants with a source become
/// the graph's. `fixed` may fix any part of the schedule.
Program program_of(const std::string& name, StageList stages, const Target& target, const Schedule& fixed = {});
/// Stage lists as one step each, planned by swtvm; those that do not fit the target's LDM are left out and named in
/// `refused`. Every list has inputs and an output of its own, which are the network's. `fixed` may fix parts of their
/// schedules.
Program program_of(const std::string& name, std::vector<StageList> lists, const Target& target,
                   std::vector<std::size_t>& refused, const std::vector<Schedule>& fixed = {});
/// A graph's operators as one step each, planned by swtvm; views become steps without a plan.
Program program_of(Graph graph, const Target& target);
/// The same with a nest that is there already.
Program program_of(LoopNest nest, const Target& target);

/// Small ones, of which sums and products are exact in any order.
Tensor whole_numbers(std::mt19937& random, const Shape& shape);

struct StubRun {
  std::string log;              ///< of compiler and program; empty where neither had anything to say
  std::vector<Tensor> outputs;  ///< of the program, in order
  /// By step and Stmt::id of the Dma: transfers, operations and bytes. Of kernels that several steps share, the sum
  /// stands with the first.
  std::map<std::pair<StepId, StatementId>, DmaTotals> counts;
};

/// Writes, compiles ("gcc" or "clang", with the warnings that emitted code promises to pass) and runs.
StubRun compile_and_run(const Program& program, const EmittedProgram& emitted, const std::vector<Tensor>& inputs,
                        const std::string& compiler);

/// Random values of every network input, the same for the same seed: floats in [-1, 1), integers in [0, 2) or as far as
/// `integers` says.
std::vector<Tensor> random_inputs(const Program& program, unsigned seed, unsigned integers = 2);

/// The values of a graph's outputs by plain evaluation, operator by operator.
std::vector<Tensor> evaluate_graph(const Graph& graph, const std::vector<Tensor>& inputs);

/// Emits, compiles with both compilers, runs; checks that nothing is warned of, that the outputs are the expected ones
/// to 1e-5 of their largest magnitude (integers exactly), and that counts are as predicted. `made_of` is, by output,
/// how large the values are that it is computed from, where that may be larger: x - tanh(x) leaves little of either.
void check_program(const Program& program, const std::vector<Tensor>& inputs, const std::vector<Tensor>& expected,
                   const std::vector<double>& made_of = {});

}  // namespace stowage::fixtures
