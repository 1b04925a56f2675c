// SPDX-License-Identifier: Apache-2.0
// Emitted programs: their text, and what they compute when compiled with both compilers and run.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "emitted_program.h"
#include "tests/lowering/fixtures.h"
#include "tests/places.h"

using namespace stowage;
using fixtures::matmul_stages;

namespace {

Target one_core() {
  Target target;
  target.name = "sw26010";
  target.cores.count = 1;
  return target;
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  const std::int64_t m = a.shape()[0];
  const std::int64_t k = a.shape()[1];
  const std::int64_t n = b.shape()[1];
  std::vector<float> c;
  for (std::int64_t x = 0; x < m; ++x) {
    for (std::int64_t y = 0; y < n; ++y) {
      double sum = 0;
      for (std::int64_t i = 0; i < k; ++i) sum += a.as_double(x * k + i) * b.as_double(i * n + y);
      c.push_back(static_cast<float>(sum));
    }
  }
  return Tensor::of_floats({m, n}, c);
}

}  // namespace

TEST_CASE("emitted sources of the paper's matmul are as written down") {
  const auto folder = test::source_folder() / "tests/emitter/golden/matmul";
  const EmittedProgram emitted = emit_athread(fixtures::program_of("matmul", matmul_stages(1, 1024, 1024), one_core()));
  std::vector<std::string> paths;
  for (const EmittedFile& file : emitted.files) {
    paths.push_back(file.path);
    INFO(file.path);
    // STOWAGE_UPDATE_GOLDEN=1 writes them anew, for review.
    if (std::getenv("STOWAGE_UPDATE_GOLDEN") != nullptr) std::ofstream(folder / file.path) << file.text;
    std::ifstream in(folder / file.path);
    std::stringstream text;
    text << in.rdbuf();
    CHECK(file.text == text.str());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> expected;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    expected.push_back(entry.path().filename().string());
  }
  std::sort(expected.begin(), expected.end());
  CHECK(paths == expected);
}

TEST_CASE("emitted matmul of the paper gives the right numbers and counts") {
  const Program program = fixtures::program_of("matmul", matmul_stages(1, 1024, 1024), one_core());
  const auto inputs = fixtures::random_inputs(program, 1);
  fixtures::check_program(program, inputs, {matmul(inputs[0], inputs[1])});
}

TEST_CASE("emitted matmuls of awkward sizes on 64 cores give the right numbers and counts") {
  const auto [m, n, k] = GENERATE(table<int, int, int>(
      {{1, 1, 1}, {3, 5, 7}, {4, 16, 8}, {17, 100, 33}, {100, 37, 200}, {64, 1000, 300}, {130, 14, 513}}));
  const Program program =
      fixtures::program_of(fmt::format("matmul_{}_{}_{}", m, n, k), matmul_stages(m, n, k), Target{});
  const auto inputs = fixtures::random_inputs(program, 2);
  fixtures::check_program(program, inputs, {matmul(inputs[0], inputs[1])});
}
