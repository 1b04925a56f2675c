// SPDX-License-Identifier: Apache-2.0
// `stowage check`: what it says of good plans, of folders that were edited, and of texts.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/driver/tool_runner.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

/// The folder's plan with one text of its nests replaced, where it stands first.
void edit_plan(const std::string& from, const std::string& to) {
  std::string text = read_text("lenet/plan.json");
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  write_text("lenet/plan.json", text.replace(at, from.size(), to));
}

}  // namespace

TEST_CASE("check says of a good plan what it has looked at") {
  const Workplace here;
  compile_lenet();
  const ToolRun run = run_stowage({"check", "lenet"});
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(run.out == golden("check-lenet.txt", run.out));
  const auto json = nlohmann::json::parse(run_stowage({"check", "lenet", "--json"}).out);
  CHECK(json.at("good") == true);
  const auto plan = nlohmann::json::parse(read_text("lenet/plan.json"));
  std::map<std::string, std::int64_t> transfers;
  for (const auto& step : plan.at("steps")) {
    if (!step.contains("dma")) continue;
    for (const auto& row : step.at("dma")) transfers[step.at("name")] += row.at("transfers").get<std::int64_t>();
  }
  REQUIRE(json.at("nests").size() == transfers.size());
  for (const auto& nest : json.at("nests")) {
    CHECK(nest.at("faults").empty());
    CHECK(nest.at("complete") == true);
    CHECK(nest.at("transfers") == transfers.at(nest.at("name")));  // as predicted
  }
}

TEST_CASE("check tells what is wrong with a plan that the other commands do not take") {
  const Workplace here;
  compile_lenet();
  edit_plan("wait conv2_weight_ldm[ffo % 2]", "wait conv2_weight_ldm[(ffo + 1) % 2]");
  CHECK(run_stowage({"explain", "lenet"}).err.find("[damaged-plan]") != std::string::npos);
  const ToolRun run = run_stowage({"check", "lenet", "--op", "conv2"});
  INFO(run.err);
  CHECK(run.code == 1);
  CHECK(run.out == golden("check-edited.txt", run.out));
  CHECK(read_text(source_folder() / "docs/checker.md").find("$ stowage check lenet --op conv2\n" + run.out + "```\n") !=
        std::string::npos);
  const auto json = nlohmann::json::parse(run_stowage({"check", "lenet", "--json"}).out);
  CHECK(json.at("good") == false);
  for (const auto& nest : json.at("nests")) CHECK(nest.at("good") == (nest.at("name") != "conv2"));
}

TEST_CASE("check reads the text of a nest, for a target") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "matmul", "-o", "matmul.onnx"}).code == 0);
  const std::vector<std::string> one_core = {"--set", "target.cores.count=1"};
  REQUIRE(
      run_stowage({"compile", "matmul.onnx", "--planner", "swtvm", "--dump-passes", "nests", one_core[0], one_core[1]})
          .code == 0);
  std::string last;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("nests")) {
    if (entry.path().extension() == ".nest") last = std::max(last, entry.path().string());
  }
  const ToolRun run = run_stowage({"check", last, one_core[0], one_core[1]});
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(run.out.starts_with("matmul: good, "));
  const ToolRun small =
      run_stowage({"check", last, "--set", "target.ldm.bytes=8192", "--set", "target.ldm.reserved=0"});
  CHECK(small.code == 1);
  CHECK(small.out.find(" [capacity]\n  help: make buffers smaller") != std::string::npos);
  write_text("broken.nest", "nest broken {\n");
  CHECK(run_stowage({"check", "broken.nest"}).code == 1);
}

TEST_CASE("what check cannot read is said") {
  const Workplace here;
  compile_lenet();
  const ToolRun op = run_stowage({"check", "lenet", "--op", "conv3"});
  CHECK(op.code == 1);
  CHECK(op.err.find("no fused operator 'conv3' is launched") != std::string::npos);
  CHECK(run_stowage({"check", "nowhere"}).code == 1);
  CHECK(run_stowage({"check", "lenet", "--op", "pool2", "--target", "sw26010"}).code == 2);
  // Nothing that was asked for is passed over.
  CHECK(run_stowage({"check", "lenet", "--set", "target.cores.count=4"}).err.find("a folder has its own target") !=
        std::string::npos);
  CHECK(run_stowage({"check", "lenet.onnx", "--op", "pool2"}).code == 2);
  write_text("lenet/plan.json", "{}");
  const ToolRun empty = run_stowage({"check", "lenet"});
  CHECK(empty.code == 1);
  CHECK(empty.err.find("[damaged-plan]") != std::string::npos);
  std::filesystem::create_directory("folder");
  CHECK(run_stowage({"check", "folder"}).code == 1);
}

}  // namespace stowage::test
