// SPDX-License-Identifier: Apache-2.0
// trace.json as earlier versions wrote it is read, and printed as those did.
#include <catch2/catch.hpp>

#include "driver/json/json.h"
#include "tests/driver/tool_runner.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

TEST_CASE("a trace of version 2 prints the steps that this version's prints", "[trace]") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "matmul", "-o", "matmul.onnx"}).code == 0);
  // For the machine as it was described then: the trace tells its cycles, as sums begin in registers
  // now.
  const std::string target = (source_folder() / "tests/driver/traces/sw26010-of-version-2.toml").string();
  REQUIRE(run_stowage({"compile", "matmul.onnx", "--target", target, "--planner", "swtvm", "--set",
                       "target.cores.count=1", "--set", "target.ldm.reserved=0", "-o", "plan"})
              .code == 0);
  const ToolRun now = run_stowage({"explain", "plan", "--steps"});
  REQUIRE(now.code == 0);
  CHECK(now.out.find("k expanded: x=1, y=128, k=128 needs 65 KiB, only 63.96 KiB: refused") != std::string::npos);
  write_text("plan/trace.json", read_text(source_folder() / "tests/driver/traces/matmul-version-2.json"));
  const ToolRun before = run_stowage({"explain", "plan", "--steps"});
  CHECK(before.code == 0);
  CHECK(before.err == now.err);
  CHECK(before.out == now.out);
  // What needs more than text says nothing of it.
  CHECK(run_stowage({"report", "plan", "-o", "page.html", "--layout-timeout", "1"}).code == 0);
  CHECK(read_text("page.html").find("Growing ended at") == std::string::npos);
  CHECK(read_text("page.html").find("goes inside? Transfers on one core") == std::string::npos);
}

TEST_CASE("a trace of version 2 that is damaged is refused", "[trace][damaged]") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "matmul", "-o", "matmul.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "matmul.onnx", "--planner", "swtvm", "-o", "plan"}).code == 0);
  const Json whole = Json::parse(read_text(source_folder() / "tests/driver/traces/matmul-version-2.json"));
  const auto code_of = [](const Json& trace) {
    write_text("plan/trace.json", trace.dump());
    return run_stowage({"explain", "plan", "--steps"}).code;
  };
  CHECK(code_of(whole) == 0);
  for (const char* key : {"algorithm", "subject", "place", "outcome", "message", "values"}) {
    Json damaged = whole;
    damaged.at("records")[7].erase(key);
    CHECK(code_of(damaged) == 1);
    damaged.at("records")[7][key] = 7;
    CHECK(code_of(damaged) == 1);
  }
  for (const int version : {1, 3, 4, 5}) {
    Json damaged = whole;
    damaged["version"] = version;
    CHECK(code_of(damaged) == 1);
  }
}

}  // namespace
}  // namespace stowage::test
