// SPDX-License-Identifier: Apache-2.0
// Poolings in registers: emitted, compiled and run, of values of which NaN, infinities and zeros of both signs are
// many.
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "emitted_program.h"
#include "emitter/emulation/emulate.h"
#include "lowering/ir/loop_nest.h"
#include "tests/emitter/vendor_compile.h"
#include "tests/fusion/net.h"

namespace stowage {
namespace {

using testing::Net;

Tensor odd_values(std::mt19937& random, const Shape& shape, bool finite) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> odd = {std::nanf(""), inf, -inf, 0.0F, -0.0F};
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& value : values) {
    value = static_cast<float>(static_cast<int>(random() % 9) - 4);
    if (!finite && random() % 6 == 0) value = odd[random() % odd.size()];
  }
  return Tensor::of_floats(shape, values);
}

bool is_same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

int register_blocks(const Program& program) {
  int found = 0;
  for (const ProgramStep& step : program.steps) {
    const Plan* const plan = step.plan();
    if (plan == nullptr) continue;
    visit_statements(plan->nest.body, [&](const Stmt& statement) {
      const auto* compute = std::get_if<Compute>(&statement.node);
      found += compute != nullptr && compute->form == ComputeForm::register_block ? 1 : 0;
    });
  }
  return found;
}

}  // namespace

TEST_CASE("poolings in registers are what they are by definition, NaN, infinities and signs of zeros too", "[pools]") {
  const std::uint32_t seed = 20261128;
  std::mt19937 random(seed);
  const Target target = fixtures::sunway();
  const std::vector<std::string> kinds = {"MaxPool", "AveragePool", "ReduceMax", "ReduceSum"};
  int in_registers = 0;
  for (int round = 0; round < 20; ++round) {
    const std::string kind = kinds[static_cast<std::size_t>(round) % kinds.size()];
    const auto between = [&](std::int64_t low, std::int64_t high) {
      return low + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(high - low + 1));
    };
    const bool windows = kind.ends_with("Pool");
    const Shape shape = {between(1, 2), between(1, 5), between(6, 13), between(9, 30)};
    Attributes attributes;
    if (windows) {
      attributes["kernel_shape"] = std::vector<std::int64_t>{between(2, 3), between(2, 3)};
      attributes["strides"] = std::vector<std::int64_t>{between(1, 2), between(1, 2)};
      attributes["pads"] = std::vector<std::int64_t>{1, 1, 1, 1};
    } else {
      attributes["axes"] = std::vector<std::int64_t>{1};
      attributes["keepdims"] = std::int64_t{0};
    }
    Net net;
    const Graph graph = net.done({net.op(kind, "pool", {net.input("x", shape)}, attributes)});
    const Program program = fixtures::program_of(graph, target);
    INFO("seed " << seed << ", round " << round << ": " << kind << " of " << to_text(shape));
    in_registers += register_blocks(program);
    // Sums of infinities may be NaN of either sign: whole numbers, of which every order gives the same.
    const std::vector<Tensor> inputs = {odd_values(random, shape, kind == "AveragePool" || kind == "ReduceSum")};
    const EmittedProgram emitted = emit_athread(program);
    CHECK(test::complaints_of_vendor_headers({&emitted}) == "");
    EmulationOptions options;
    options.level = EmulationLevel::check;
    options.sanitize = round % 5 == 0;
    Diagnostics diagnostics;
    const auto run = emulate(program, emitted, inputs, options, {}, diagnostics);
    INFO(format_diagnostics(diagnostics));
    REQUIRE(run);
    const Tensor wanted = fixtures::evaluate_graph(graph, inputs).front();
    const Tensor& got = run->outputs.front();
    REQUIRE(got.size() == wanted.size());
    for (std::int64_t i = 0; i < wanted.size(); ++i) {
      INFO("element " << i << ": " << got.as_double(i) << ", by definition " << wanted.as_double(i));
      REQUIRE((is_same(got.as_double(i), wanted.as_double(i)) ||
               (kind == "AveragePool" && std::abs(got.as_double(i) - wanted.as_double(i)) < 1e-6)));
    }
  }
  CHECK(in_registers >= 8);
}

}  // namespace stowage
