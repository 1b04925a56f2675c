// SPDX-License-Identifier: Apache-2.0
// Fusion templates of the user's own: compiled with, kept in the folder, listed, and wrong.
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

const char* const strided = R"([[template]]
name = "dense_relu"
summary = "a dense layer and its activation"
[[template.vertex]]
name = "dense"
role = "anchor"
kinds = ["Gemm"]
where = { shape = [1, { min = 100, max = 500 }] }
[[template.vertex]]
name = "act"
role = "epilogue"
kinds = ["Relu"]
[[template.edge]]
from = "dense"
to = "act"
)";

TEST_CASE("templates of a file come before the built-in ones and are kept in the folder") {
  const Workplace here;
  write_text("mine.toml", strided);
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "lenet.onnx", "--templates", "mine.toml", "-o", "out"}).code == 0);
  const auto plan = nlohmann::json::parse(read_text("out/plan.json"));
  std::string used;
  for (const auto& step : plan.at("steps")) used += step.at("template").get<std::string>() + " ";
  CHECK(used == "convolution_pool convolution single view dense_relu matmul single ");
  CHECK(plan.at("templates").at("path") == "mine.toml");
  CHECK(plan.at("command") ==
        "stowage compile lenet.onnx --target sw26010 --fusion greedy --planner swtvm "
        "--templates mine.toml");
  const ToolRun explain = run_stowage({"explain", "out", "--op", "ip1"});
  CHECK(explain.code == 0);
  CHECK(explain.out.find("Template dense_relu: ip1 (Gemm, anchor)") != std::string::npos);
  // Without the file there is no such key.
  REQUIRE(run_stowage({"compile", "lenet.onnx", "-o", "plain"}).code == 0);
  CHECK_FALSE(nlohmann::json::parse(read_text("plain/plan.json")).contains("templates"));
}

TEST_CASE("a job of a batch file has its templates") {
  const Workplace here;
  std::filesystem::create_directory("jobs");
  write_text("jobs/mine.toml", strided);
  write_text("jobs/jobs.toml",
             "[defaults]\ntemplates = \"mine.toml\"\n[[job]]\nname = \"lenet\"\nnetwork = \"lenet\"\n");
  const ToolRun run = run_stowage({"batch", "jobs/jobs.toml", "-o", "results"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(read_text("results/lenet/plan.json").find("\"template\": \"dense_relu\"") != std::string::npos);
}

TEST_CASE("mistakes in a file of templates have their place, and nothing is compiled") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "vector", "-o", "v.onnx"}).code == 0);
  write_text("bad.toml", R"([[template]]
name = "matmul"
[[template.vertex]]
name = "dense"
role = "anchor"
kinds = ["Gemm"]
where = { transB = "yes" }
[[template]]
name = "matmul"
[[template.vertex]]
name = "dense"
role = "anchor"
kinds = ["Gemm"]
)");
  const std::string expected =
      R"(bad.toml:7:20: error: 'transB' is a number, this can never be equal to it [wrong-condition]
    where = { transB = "yes" }
                       ^^^^^
bad.toml:9:8: error: there is already a template 'matmul' [duplicate-template]
    name = "matmul"
           ^^^^^^^^
)";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"compile", "v.onnx", "--templates", "bad.toml", "-o", "out"},
        std::vector<std::string>{"templates", "--templates", "bad.toml"}}) {
    const ToolRun run = run_stowage(command);
    CHECK(run.code == 1);
    CHECK(run.out.empty());
    CHECK(run.err == expected);
  }
  CHECK(run_stowage({"templates", "--templates", "no.toml"}).err ==
        "no.toml: error: cannot be read: No such file or directory [file-error]\n");
  CHECK(files_below(".").size() == 2);
}

TEST_CASE("one template in detail, and the rules") {
  const Workplace here;
  write_text("mine.toml", strided);
  const ToolRun one = run_stowage({"templates", "dense_relu", "--templates", "mine.toml"});
  CHECK(one.code == 0);
  CHECK(one.out == R"(stowage 0.1.0 | stowage templates dense_relu

a dense layer and its activation
stays on chip: dense
expands to 1 pattern

| vertex | role     | kinds | copies | where                |
| ------ | -------- | ----- | ------ | -------------------- |
| dense  | anchor   | Gemm  | 1      | shape [1,100 to 500] |
| act    | epilogue | Relu  | 1      |                      |

dense -> act
)");
  const ToolRun json = run_stowage({"templates", "convolution", "--json"});
  CHECK(json.code == 0);
  CHECK(nlohmann::json::parse(json.out).at("patterns") == 9);
  const ToolRun misspelt = run_stowage({"templates", "convolutoin"});
  CHECK(misspelt.code == 2);
  CHECK(misspelt.err ==
        "error: no template 'convolutoin' [usage]\n  help: did you mean 'convolution'?\nsee 'stowage templates "
        "--help'\n");
  const ToolRun rules = run_stowage({"templates", "--rules", "--json"});
  CHECK(rules.code == 0);
  CHECK(nlohmann::json::parse(rules.out).at("rules")[0].at("rule") == "one-anchor");
}

}  // namespace
}  // namespace stowage::test
