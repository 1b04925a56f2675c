// SPDX-License-Identifier: Apache-2.0
// A graph all the way to checked numbers, for tests.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "driver/run/check_run.h"

namespace stowage::test {

/// Compiles for sw26010, by default with the default strategy and planner; every loop nest is verified. Fails the test
/// with the diagnostics.
Compilation compiled(const Graph& graph, const CompileRequest& request = {});

/// Where compilations of whole networks keep their costs: they have many groups in common, and get the plans that they
/// would get without.
std::filesystem::path costs_of_networks();

/// Seeded inputs: floats around 0, small non-negative integers (they are indices), truth values.
std::vector<Tensor> seeded_inputs(const Graph& graph, std::uint32_t seed);

/// What differs: every fused operator's and output's value against the reference, every predicted count against the
/// emulated one. Empty if all agrees.
std::string differences(const CheckResult& result);

/// Emulates, compares and returns the network's outputs; fails the test where anything differs, or a nest that is
/// played through (lowering/check) has a fault.
std::vector<Tensor> checked(const Compilation& compilation, std::span<const Tensor> inputs);

/// The same at level strict, where a core that reads what another one writes is an error, on seeded inputs; everything
/// that was compared.
CheckResult checked_strictly(const Compilation& compilation, const Graph& graph, std::uint32_t seed);

}  // namespace stowage::test
