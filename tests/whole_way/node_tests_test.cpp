// SPDX-License-Identifier: Apache-2.0
// The ONNX project's operator tests, compiled for sw26010 and emulated.
#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <iostream>
#include <thread>

#include "driver/backend/count_errors.h"
#include "driver/run/check_run.h"
#include "emitter/emulation/emulate.h"
#include "lowering/program/program.h"
#include "lowering/verify/verify.h"
#include "tests/emitter/vendor_compile.h"
#include "tests/onnx/node_tests.h"

namespace stowage::test {
namespace {

/// Compiles, verifies, emulates and compares one test; empty if it passes. Runs on several threads: no Catch in here.
std::string run_emulated(const NodeTestCase& test, const CompileRequest& request, EmittedProgram& emitted) {
  Diagnostics diagnostics;
  auto compilation = compile_graph(test.graph, request, diagnostics);
  if (!compilation) return "does not compile: " + format_diagnostics(diagnostics);
  for (const ProgramStep& step : compilation->program.steps) {
    if (step.plan() == nullptr) continue;
    if (const auto broken = verify(step.plan()->nest, compilation->program.target)) return "loop nest: " + *broken;
  }
  emitted = compilation->emitted;
  EmulationOptions options;
  options.workers = 1;
  options.keep_outputs_of_steps = false;
  const auto result = emulate(compilation->program, compilation->emitted, test.inputs, options, {}, diagnostics);
  if (!result) return "does not run: " + format_diagnostics(diagnostics);
  for (const CountError& error : compare_counts(compilation->program, *result)) {
    return fmt::format("{} of {} statement {}: predicted {}, emulated {}", error.what, error.name,
                       error.statement ? std::to_string(error.statement->index()) : "-", error.predicted,
                       error.emulated);
  }
  for (std::size_t o = 0; o < test.expected.size(); ++o) {
    if (std::string text = difference(test.expected[o], result->outputs.at(o)); !text.empty()) {
      return fmt::format("output {}: {}", o, text);
    }
  }
  return {};
}

void check_source(NodeTestSource source, const CompileRequest& request = {}) {
  const NodeTestList list = find_node_tests(source);
  if (!list.skipped.empty()) {
    WARN(list.skipped);
    return;
  }
  CHECK(list.tests.size() >= list.at_least);
  struct Outcome {
    bool skipped = false;
    std::string failure;
    EmittedProgram emitted;
  };
  std::vector<Outcome> outcomes(list.tests.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < list.tests.size(); i = next++) {
      std::string failure;
      try {
        const auto test = load_node_test(list.tests[i], failure);
        outcomes[i].skipped = !test && failure.empty();
        if (test) failure = run_emulated(*test, request, outcomes[i].emitted);
      } catch (const std::exception& fault) {
        failure = fault.what();
      }
      outcomes[i].failure = failure;
    }
  };
  {
    std::vector<std::jthread> workers;
    for (unsigned w = 0; w < std::max(1U, std::thread::hardware_concurrency()); ++w) workers.emplace_back(work);
  }
  std::vector<const EmittedProgram*> programs;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.emitted.files.empty()) programs.push_back(&outcome.emitted);
  }
  CHECK(complaints_of_vendor_headers(programs) == "");
  NodeTestTally tally;
  for (std::size_t i = 0; i < list.tests.size(); ++i) {
    if (outcomes[i].skipped) {
      tally.skip(list.tests[i]);
    } else {
      tally.record(list.tests[i], outcomes[i].failure);
    }
  }
  std::cout << tally.summary();
  INFO(tally.failures());
  CHECK(tally.failed() == 0);
  CHECK(tally.passed() > 0);
}

}  // namespace

TEST_CASE("the operator tests of Debian's ONNX pass compiled and emulated") {
  check_source(NodeTestSource::debian_package);
}

TEST_CASE("the operator tests of ONNX 1.23 pass compiled and emulated") { check_source(NodeTestSource::onnx_1_23); }

TEST_CASE("the operator tests pass planned by optimal", "[.][optimal]") {
  CompileRequest request;
  request.planner = "optimal";
  check_source(NodeTestSource::debian_package, request);
  check_source(NodeTestSource::onnx_1_23, request);
}

}  // namespace stowage::test
