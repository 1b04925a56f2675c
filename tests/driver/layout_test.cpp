// SPDX-License-Identifier: Apache-2.0
// Layouts of pictures as a user meets them: a plan's folder without its model, a misspelt layout, and a batch's key.
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

TEST_CASE("a plan with channels in blocks is run, checked and simulated from its folder alone") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "n.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "n.onnx", "--layout", "blocked", "-o", "plan"}).code == 0);
  std::filesystem::remove("n.onnx");
  for (const std::string command : {"run", "check", "simulate", "report"}) {
    const ToolRun run = run_stowage(command == "report" ? std::vector<std::string>{command, "plan", "-o", "r.html"}
                                                        : std::vector<std::string>{command, "plan"});
    INFO(command << ": " << run.out << run.err);
    CHECK(run.code == 0);
  }
  CHECK(read_text("plan/trace.json").find(R"("kind":"channels-blocked")") != std::string::npos);
}

TEST_CASE("a misspelt layout is a wrong option, with the layouts there are") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "matmul", "-o", "n.onnx"}).code == 0);
  const ToolRun run = run_stowage({"compile", "n.onnx", "--layout", "bloked"});
  CHECK(run.code == 2);
  CHECK_THAT(run.err, Catch::Contains("unknown-layout") && Catch::Contains("bloked") && Catch::Contains("blocked"));
}

TEST_CASE("a batch sweeps layouts, and names its jobs by them") {
  const Workplace here;
  write_text("jobs.toml",
             "[[job]]\nname = \"n\"\nnetwork = \"lenet\"\n[job.sweep]\nlayout = [\"given\", \"blocked\"]\n");
  const ToolRun run = run_stowage({"batch", "jobs.toml", "--dry-run", "--json"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const auto jobs = nlohmann::json::parse(run.out);
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].at("job") == "n-given");
  CHECK(jobs[0].at("layout") == "given");
  CHECK(jobs[1].at("job") == "n-blocked");
  CHECK(jobs[1].at("layout") == "blocked");
}

}  // namespace
}  // namespace stowage::test
