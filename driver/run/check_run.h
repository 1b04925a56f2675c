// SPDX-License-Identifier: Apache-2.0
// Runs a compilation in emulation, and holds it against the reference: values of every fused operator, and what the
// plan predicted (transfers, operations, bytes, barriers, LDM peaks) against what the emulation counted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/session/session.h"
#include "emitter/sources/program_run.h"

namespace stowage {

/// How far one tensor is from the reference. Floats agree within `tolerance` times the reference's largest magnitude
/// with NaN and infinities at the same places; integers and truth values exactly.
struct ValueError {
  std::string name;  ///< fused operator, or network output
  std::string tensor;
  ElementType type = ElementType::f32;
  std::int64_t elements = 0;
  double largest_absolute = 0;
  double largest_relative = 0;  ///< of one element to its own reference value
  double magnitude = 0;         ///< largest finite magnitude of the reference
  std::int64_t nans = 0;        ///< in the emulated value
  std::int64_t infinities = 0;
  std::int64_t misplaced = 0;  ///< NaN or infinite in one of the two only
  double tolerance = 0;
  bool agrees = true;  ///< with the reference's value from the network's inputs
  /// It does not, but is right for the operands that it got: these differed already, and it made more of that.
  bool amplified = false;
  [[nodiscard]] bool is_wrong() const { return !agrees && !amplified; }
  [[nodiscard]] double scaled() const { return magnitude > 0 ? largest_absolute / magnitude : largest_absolute; }
};

ValueError compare_values(const Tensor& value, const Tensor& reference, double tolerance);

struct CheckResult {
  std::vector<ValueError> groups;   ///< every result of every fused operator, in order of execution
  std::size_t fused_operators = 0;  ///< branches have several results
  std::vector<ValueError> outputs;  ///< of the network
  std::vector<CountError> counts;
  EmulationResult emulation;
  bool against_model = false;  ///< the reference ran the model itself, not the graph with folded parameters
  /// Nothing is wrong: what differs is amplified.
  [[nodiscard]] bool agrees() const;
  [[nodiscard]] std::size_t amplified_operators() const;  ///< fused operators
  [[nodiscard]] std::size_t amplified_outputs() const;    ///< of the network
  /// The first fused operator that is wrong.
  [[nodiscard]] const ValueError* first_difference() const;
};

inline constexpr double group_tolerance = 1e-4;
inline constexpr double output_tolerance = 1e-3;

/// A fused operator that differs from the reference is judged once more: the reference computes it from the operands
/// that the emulated program gave it. Where that agrees it is not wrong but amplified; so is a network output that is
/// what its fused operator stored, if none is wrong.
/// The reference runs the network as it was imported, where the compilation has it and every fused operator's output
/// is a tensor of it, so that folded parameters are checked too.
Result<CheckResult> run_and_check(const Compilation& compilation, std::span<const Tensor> inputs,
                                  const RunSettings& asked, Diagnostics& diagnostics, std::stop_token stop = {},
                                  const ProgressSink& progress = {});

/// One fused operator as a program of its own; its inputs are the network inputs, in the order of FusedOperator::inputs
/// without constants. Its plan is that of the whole program. Reports an unknown name.
struct IsolatedOperator {
  Compilation compilation;
  std::vector<TensorId> inputs;  ///< of the whole program's graph
};
Result<IsolatedOperator> isolate(const Compilation& compilation, const std::string& name, Diagnostics& diagnostics);

/// The reference's values of some tensors of the graph, from the network's inputs.
Result<std::vector<Tensor>> reference_values(const Graph& graph, std::span<const Tensor> inputs,
                                             std::span<const TensorId> wanted, std::stop_token stop = {},
                                             const ProgressSink& progress = {});

}  // namespace stowage
