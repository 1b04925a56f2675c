// SPDX-License-Identifier: Apache-2.0
// A schedule with three and four slots, as a user meets it: compiled, run, told, and refused where it cannot be.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "tests/driver/tool_runner.h"

namespace stowage::test {

TEST_CASE("three and four slots of a schedule are planned, run as counted, and told trip by trip") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "matmul", "-o", "matmul.onnx"}).code == 0);
  const auto compile = [](int slots) {
    write_text("slots.toml", fmt::format("[schedule.\"matmul\"]\nslots = {{ A = 2, B = {} }}\n", slots));
    return run_stowage({"compile", "matmul.onnx", "--planner", "swtvm", "--set", "target.cores.count=1", "--schedule",
                        "slots.toml", "-o", "plan", "--force"});
  };
  for (const int slots : {3, 4}) {
    INFO(slots);
    REQUIRE(compile(slots).code == 0);
    const ToolRun run = run_stowage({"run", "plan", "--check", "--level", "strict"});
    INFO(run.err);
    CHECK(run.code == 0);
    CHECK(run_stowage({"check", "plan"}).code == 0);
    REQUIRE(run_stowage({"report", "plan", "-o", "page.html", "--force"}).code == 0);
    const std::string page = read_text("page.html");
    for (int trip = 1; trip < slots - 1; ++trip) {
      const auto first =
          fmt::format("This is the part of trip {}, from 0; later ones are loaded {} trips ahead.", trip, slots - 1);
      CHECK(page.find(first) != std::string::npos);
    }
    CHECK(page.find(fmt::format("It has {} slots, so that the next {} trips", slots, slots - 1)) != std::string::npos);
    CHECK(page.find("This is the part of the first trip; the others are loaded a trip ahead.") != std::string::npos);
  }
  const ToolRun refused = compile(5);
  CHECK(refused.code != 0);
  CHECK(refused.err.find("slots.B' is 5, but lies between 1 and 4") != std::string::npos);
}

}  // namespace stowage::test
