// SPDX-License-Identifier: Apache-2.0
// `stowage simulate`: what it prints, and that its figures go together.
#include <cmath>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/driver/tool_runner.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

void compile_lenet() {
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "lenet.onnx", "-o", "lenet"}).code == 0);
}

std::int64_t sum_of_parts(const nlohmann::json& row) {
  std::int64_t sum = 0;
  for (const auto& part : row["parts"]) sum += part["cycles"].get<std::int64_t>();
  return sum;
}

TEST_CASE("a plan in time: the text, which is the example of docs/simulation.md") {
  const Workplace here;
  compile_lenet();
  const ToolRun run = run_stowage({"simulate", "lenet"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(run.out == golden("simulate-lenet.txt", run.out));
  const std::string page = read_text(source_folder() / "docs/simulation.md");
  CHECK(page.find("$ stowage simulate lenet\n" + run.out.substr(run.out.find("\n\n") + 2) + "```\n") !=
        std::string::npos);
}

TEST_CASE("one fused operator in time, statement by statement") {
  const Workplace here;
  compile_lenet();
  const ToolRun run = run_stowage({"simulate", "lenet", "--op", "pool1"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(run.out == golden("simulate-lenet-pool1.txt", run.out));

  const ToolRun unknown = run_stowage({"simulate", "lenet", "--op", "pool3"});
  CHECK(unknown.code == 1);
  CHECK(unknown.err ==
        "error: no fused operator 'pool3' is launched [unknown-fused-operator]\n  help: did you mean 'pool1'?\n");
}

TEST_CASE("the figures of a simulation go together") {
  const Workplace here;
  compile_lenet();
  const ToolRun run = run_stowage({"simulate", "lenet", "--json"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const auto json = nlohmann::json::parse(run.out);
  const auto compiled = nlohmann::json::parse(run_stowage({"compile", "lenet.onnx", "--json"}).out);
  CHECK(json["closed_form_cycles"] == compiled["cycles"]);
  CHECK(json["dma_bytes"] == compiled["dma_bytes"]);
  CHECK(json["flops"] == compiled["flops"]);
  std::int64_t cycles = 0;
  std::int64_t within = 0;
  double worst = 0;
  for (const auto& row : json["fused_operators"]) {
    INFO(row["name"]);
    CHECK(sum_of_parts(row) == row["cycles"]);
    const double simulated = row["cycles"];
    const double error = (row["closed_form_cycles"].get<double>() - simulated) / simulated;
    CHECK(row["closed_form_error"].get<double>() == Approx(error));
    within += std::abs(error) <= 0.1 ? 1 : 0;
    worst = std::max(worst, std::abs(error));
    cycles += row["cycles"].get<std::int64_t>();
    for (const auto& engine : row["engines"]) CHECK(engine["busy_share"].get<double>() <= 1);
  }
  CHECK(json["cycles"] == cycles);
  CHECK(sum_of_parts(json) == cycles);
  CHECK(json["fused_operators_within_10_percent"] == within);
  for (const auto& row : json["fused_operators"]) {
    if (row["name"] == json["worst"]) CHECK(std::abs(row["closed_form_error"].get<double>()) == worst);
  }
}

TEST_CASE("a folder that is not there is told as by other commands") {
  const Workplace here;
  const ToolRun missing = run_stowage({"simulate", "nowhere"});
  CHECK(missing.code == 1);
  CHECK(missing.err == run_stowage({"explain", "nowhere"}).err);
}

}  // namespace
}  // namespace stowage::test
