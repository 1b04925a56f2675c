// SPDX-License-Identifier: Apache-2.0
// Schedules and groups that a person wrote: they are what is compiled, and mistakes in them stand where they were
// written.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/driver/made_network.h"
#include "tests/driver/tool_runner.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

TEST_CASE("a schedule by hand is what is compiled") {
  const Workplace here;
  make_network("matmul");
  const std::string schedule = test::source_folder().string() + "/samples/schedules/matmul.toml";
  const ToolRun run = run_stowage({"compile", "matmul.onnx", "--schedule", schedule, "-o", "out"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const auto plan = nlohmann::json::parse(read_text("out/plan.json"));
  const auto& made = plan.at("steps")[0].at("schedule");
  CHECK(made.at("buffer") == nlohmann::json::parse(R"({"x": 1, "y": 128, "k": 64})"));
  CHECK(made.at("order") == nlohmann::json::parse(R"(["x", "yo", "ko"])"));
  CHECK(made.at("dma") == nlohmann::json::parse(R"({"A": "ko", "B": "ko", "C": "yo"})"));
  CHECK(made.at("parallel").empty());
}

TEST_CASE("mistakes in a schedule stand where they were written") {
  const Workplace here;
  make_network("matmul");
  const auto complaint = [](const std::string& text) {
    write_text("s.toml", text);
    const ToolRun run =
        run_stowage({"compile", "matmul.onnx", "--schedule", "s.toml", "--set", "target.cores.count=1"});
    CHECK(run.code == 1);
    return run.err;
  };
  CHECK(complaint("[schedule.matmull]\nbuffer = { y = 128 }\n") ==
        "s.toml:1:1: error: no fused operator 'matmull' [unknown-fused-operator]\n"
        "    [schedule.matmull]\n"
        "    ^^^^^^^^^^^^^^^^^^\n"
        "  help: did you mean 'matmul'?\n");
  CHECK(complaint("[schedule.matmul]\nbuffer = { z = 128, y = \"all\" }\n") ==
        "s.toml:2:25: error: 'schedule.matmul.buffer.y' is a string, an integer was wanted [wrong-type]\n"
        "    buffer = { z = 128, y = \"all\" }\n"
        "                            ^^^^^\n");
  CHECK(complaint("[schedule.matmul]\nbuffer = { z = 128 }\ndma = { D = \"ko\", A = \"zo\" }\n"
                  "order = [\"x\", \"yi\"]\nslots = { E = 2 }\nparallel = [{ iterator = \"k\", parts = 4 }]\n") ==
        "s.toml:6:12: error: fused operator 'matmul' has no iterator 'k' [unknown-iterator]\n"
        "    parallel = [{ iterator = \"k\", parts = 4 }]\n"
        "               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  help: known are: x, y\n"
        "s.toml:2:16: error: fused operator 'matmul' has no iterator 'z' [unknown-iterator]\n"
        "    buffer = { z = 128 }\n"
        "                   ^^^\n"
        "  help: known are: x, y, k\n"
        "s.toml:4:9: error: fused operator 'matmul' has no loop 'yi' [unknown-loop]\n"
        "    order = [\"x\", \"yi\"]\n"
        "            ^^^^^^^^^^^\n"
        "  help: did you mean 'y'?\n"
        "s.toml:3:23: error: fused operator 'matmul' has no loop 'zo' [unknown-loop]\n"
        "    dma = { D = \"ko\", A = \"zo\" }\n"
        "                          ^^^^\n"
        "  help: did you mean 'xo'?\n"
        "s.toml:3:13: error: fused operator 'matmul' has no tensor 'D' [unknown-tensor]\n"
        "    dma = { D = \"ko\", A = \"zo\" }\n"
        "                ^^^^\n"
        "  help: known are: A, B, C\n"
        "s.toml:5:15: error: fused operator 'matmul' has no tensor 'E' [unknown-tensor]\n"
        "    slots = { E = 2 }\n"
        "                  ^\n"
        "  help: known are: A, B, C\n");
  CHECK(complaint("[schedule.matmul]\nbufer = { y = 128 }\n") ==
        "s.toml:2:1: error: unknown key 'schedule.matmul.bufer' [unknown-key]\n"
        "    bufer = { y = 128 }\n"
        "    ^^^^^\n"
        "  help: did you mean 'buffer'?\n");
  CHECK(complaint("[schedule.matmul\n").find("[toml-syntax]") != std::string::npos);
  CHECK(complaint("# nothing\n") == "s.toml: error: 'schedule' is missing: a table was wanted [missing-key]\n");
}

TEST_CASE("groups by hand are what is fused") {
  const Workplace here;
  make_network("lenet");
  const auto groups_of = [&](const std::string& text) {
    write_text("g.toml", text);
    const ToolRun run = run_stowage({"compile", "lenet.onnx", "--schedule", "g.toml", "-o", "out", "--force"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    std::vector<std::string> names;
    const auto plan = nlohmann::json::parse(read_text("out/plan.json"));
    for (const auto& step : plan.at("steps")) {
      std::string name;
      for (const auto& op : step.at("operators")) name += (name.empty() ? "" : " + ") + op.get<std::string>();
      names.push_back(name);
    }
    return names;
  };
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  CHECK(has(groups_of("[schedule]\n"), "ip1 + relu1"));
  const std::vector<std::string> apart =
      groups_of("[[group]]\noperators = [\"relu1\"]\n\n[schedule.ip1]\nbuffer = { y = 8 }\n");
  CHECK(has(apart, "ip1"));
  CHECK(has(apart, "relu1"));
  CHECK(apart.size() == groups_of("[schedule]\n").size() + 1);
  // What is fixed is told, and can be run.
  CHECK(run_stowage({"explain", "out"}).code == 0);
  groups_of("group = [{ operators = [\"relu1\"] }]\n");
  CHECK(read_text("out/trace.json").find("relu1 is fixed by hand") != std::string::npos);
  CHECK(run_stowage({"run", "out", "--check"}).code == 0);
}

TEST_CASE("mistakes in groups by hand stand where they were written") {
  const Workplace here;
  make_network("lenet");
  const auto complaint = [](const std::string& text) {
    write_text("g.toml", text);
    const ToolRun run = run_stowage({"compile", "lenet.onnx", "--schedule", "g.toml"});
    CHECK(run.code == 1);
    return run.err;
  };
  const std::string unknown = complaint("[[group]]\noperators = [\"ip1\", \"relu\"]\n");
  CHECK(unknown.find("g.toml:2:13: error: no operator 'relu' [unknown-operator]") != std::string::npos);
  CHECK(unknown.find("'relu1'") != std::string::npos);
  const std::string twice =
      complaint("[[group]]\noperators = [\"ip1\"]\n[[group]]\noperators = [\"relu1\", \"ip1\"]\n");
  CHECK(twice.find("g.toml:4:13: error: operator 'ip1' is in two fixed groups [group-overlap]") != std::string::npos);
  const std::string foreign = complaint("[[group]]\noperators = [\"conv1\", \"prob\"]\n");
  CHECK(foreign.find("g.toml:2:13: error: conv1 + prob cannot be one group: no template takes conv1 + prob as one "
                     "group (fixed) [group-refused]") != std::string::npos);
  CHECK(complaint("[[group]]\noperators = []\n").find("[empty-group]") != std::string::npos);
  CHECK(complaint("[[group]]\nops = [\"ip1\"]\n").find("'group.operators' is missing") != std::string::npos);
}

TEST_CASE("a schedule that cannot hold says which constraint") {
  const Workplace here;
  make_network("matmul");
  write_text("s.toml", "[schedule.matmul]\nbuffer = { y = 1024, k = 1024 }\n");
  const ToolRun run = run_stowage({"compile", "matmul.onnx", "--schedule", "s.toml", "--set", "target.cores.count=1"});
  CHECK(run.code == 1);
  INFO(run.err);
  CHECK(run.err.find("58 KiB") != std::string::npos);
}

}  // namespace
}  // namespace stowage::test
