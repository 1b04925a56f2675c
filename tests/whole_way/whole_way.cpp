// SPDX-License-Identifier: Apache-2.0
#include "tests/whole_way/whole_way.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <random>

#include "lowering/check/check_nest.h"
#include "lowering/program/program.h"
#include "lowering/verify/verify.h"
#include "tests/places.h"

namespace stowage::test {

Compilation compiled(const Graph& graph, const CompileRequest& request) {
  Diagnostics diagnostics;
  auto compilation = compile_graph(graph, request, diagnostics);
  if (!compilation) FAIL(format_diagnostics(diagnostics));
  for (const ProgramStep& step : compilation->program.steps) {
    if (step.plan() == nullptr) continue;
    const auto broken = verify(step.plan()->nest, compilation->program.target);
    if (broken) FAIL(step.group.name << ": " << *broken);
  }
  return *std::move(compilation);
}

std::filesystem::path costs_of_networks() { return build_folder() / "tests" / "whole_way" / "costs"; }

std::vector<Tensor> seeded_inputs(const Graph& graph, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Tensor> inputs;
  for (const TensorId id : graph.inputs()) {
    const GraphTensor& tensor = graph.tensor(id);
    const auto count = static_cast<std::size_t>(element_count(tensor.shape));
    std::vector<std::byte> bytes(count * static_cast<std::size_t>(byte_size(tensor.type)));
    for (std::size_t i = 0; i < count; ++i) {
      std::byte* to = bytes.data() + i * static_cast<std::size_t>(byte_size(tensor.type));
      if (is_float(tensor.type)) {
        store_element(tensor.type, std::uniform_real_distribution<double>(-1, 1)(random), to);
      } else {
        store_element(tensor.type, static_cast<std::int64_t>(random() % 2), to);
      }
    }
    inputs.emplace_back(tensor.type, tensor.shape, std::move(bytes));
  }
  return inputs;
}

std::string differences(const CheckResult& result) {
  std::string text;
  const auto value = [&](const ValueError& error) {
    if (!error.is_wrong()) return;
    text += fmt::format("{} ({}): largest error {} of magnitude {}, {} NaN, {} infinite\n", error.name, error.tensor,
                        error.largest_absolute, error.magnitude, error.nans, error.infinities);
  };
  for (const ValueError& error : result.groups) value(error);
  for (const ValueError& error : result.outputs) value(error);
  for (const CountError& error : result.counts) {
    text += fmt::format("{} statement {}: {} predicted {}, emulated {}\n", error.name,
                        error.statement ? std::to_string(error.statement->index()) : "-", error.what, error.predicted,
                        error.emulated);
  }
  return text;
}

namespace {

/// Every nest played through, as `stowage check` does it.
void play_nests(const Compilation& compilation) {
  for (const ProgramStep& step : compilation.program.steps) {
    if (step.plan() == nullptr) continue;
    INFO(step.group.name);
    const NestCheck check = check_nest(step.plan()->nest, compilation.program.target);
    for (const Fault& fault : check.faults) FAIL_CHECK(name_of(fault.family) << ": " << fault.what);
    CHECK(check.complete);
  }
}

}  // namespace

std::vector<Tensor> checked(const Compilation& compilation, std::span<const Tensor> inputs) {
  Diagnostics diagnostics;
  auto result = run_and_check(compilation, inputs, RunSettings{}, diagnostics);
  if (!result) FAIL(format_diagnostics(diagnostics));
  CHECK(differences(*result) == "");
  play_nests(compilation);
  return std::move(result->emulation.outputs);
}

CheckResult checked_strictly(const Compilation& compilation, const Graph& graph, std::uint32_t seed) {
  RunSettings options;
  options.level = EmulationLevel::strict;
  options.seed = seed;
  Diagnostics diagnostics;
  auto result = run_and_check(compilation, seeded_inputs(graph, seed), options, diagnostics);
  if (!result) FAIL(format_diagnostics(diagnostics));
  CHECK(differences(*result) == "");
  play_nests(compilation);
  return *std::move(result);
}

}  // namespace stowage::test
