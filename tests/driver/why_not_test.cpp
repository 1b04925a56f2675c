// SPDX-License-Identifier: Apache-2.0
// `stowage explain DIR --why-not A,B`: the answer comes from the folder, with the templates it was compiled with.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

/// Pools by themselves may carry an activation, if they have stride 1, which those of LeNet have not.
const char* const pools = R"([[template]]
name = "dense_pair"
[[template.vertex]]
name = "first"
role = "producer"
kinds = ["Gemm"]
[[template.vertex]]
name = "act"
role = "prologue"
kinds = ["Relu"]
[[template.vertex]]
name = "second"
role = "anchor"
kinds = ["Gemm"]
where = { shape = [1, { min = 100 }] }
[[template.edge]]
from = "first"
to = "act"
[[template.edge]]
from = "act"
to = "second"
)";

TEST_CASE("explain says why operators are not together, and what would change it") {
  const Workplace here;
  write_text("mine.toml", pools);
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "lenet.onnx", "--templates", "mine.toml", "-o", "out"}).code == 0);
  // What the folder holds is enough.
  write_text("mine.toml", "");
  const ToolRun text = run_stowage({"explain", "out", "--why-not", "ip1,ip2"});
  INFO(text.err);
  CHECK(text.code == 0);
  CHECK(text.out.find("--templates mine.toml | model lenet.onnx") != std::string::npos);
  CHECK(text.out.substr(text.out.find("\n\n") + 2) == R"(ip1 + ip2: no template takes them
  between them: ip1 + relu1 + ip2
  nearest is template dense_pair (first, act, second)
    wants shape [1,at least 100] at vertex second, ip2 has [1,10]
  what would change it: ip2 with shape [1,at least 100]
)");
  const auto json = nlohmann::json::parse(run_stowage({"explain", "out", "--why-not", "ip1,ip2", "--json"}).out);
  CHECK(json.at("answer") == "no-template");
  CHECK(json.at("asked") == std::vector<std::string>{"ip1", "ip2"});
  CHECK(json.at("nearest").at("template") == "dense_pair");
  CHECK(json.at("flip") == "ip2 with shape [1,at least 100]");
  const auto together = nlohmann::json::parse(run_stowage({"explain", "out", "--why-not", "relu1,ip1", "--json"}).out);
  CHECK(together.at("answer") == "together");
  CHECK(together.at("cycles") > 0);
}

TEST_CASE("explain asks for operators that there are") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "lenet.onnx", "-o", "out"}).code == 0);
  const auto mistake = [](const std::string& names) {
    const ToolRun run = run_stowage({"explain", "out", "--why-not", names});
    CHECK(run.code == 1);
    CHECK(run.out.empty());
    return run.err;
  };
  CHECK(mistake("conv1,pol1") ==
        "error: no operator or node 'pol1' in lenet [unknown-operator]\n  help: did you mean 'pool1'?\n");
  CHECK(mistake("conv1") ==
        "error: --why-not wants at least two operators [one-operator]\n  help: separate their names by commas\n");
  CHECK(mistake("conv1,conv1") ==
        "error: 'conv1' and 'conv1' are one operator, conv1 [same-operator]\n"
        "  help: nodes that fold into parameters have no operator of their own\n");
}

TEST_CASE("a group with a fixed schedule has the cycles of its plan wherever candidates are counted") {
  const Workplace here;
  write_text("slow.toml", "[schedule.ip1]\nbuffer = { y = 4 }\n");
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  const auto compiled = [](const std::string& folder, std::vector<std::string> options) {
    options.insert(options.begin(), {"compile", "lenet.onnx", "-o", folder, "--json"});
    const ToolRun run = run_stowage(options);
    INFO(run.err);
    REQUIRE(run.code == 0);
    const auto answer = run_stowage({"explain", folder, "--why-not", "relu1,ip1", "--json"});
    const auto trace = nlohmann::json::parse(read_text(folder + "/trace.json"));
    const auto total = nlohmann::json::parse(run.out).at("cycles").get<std::int64_t>();
    CHECK(trace.at("fusion").at("totals").at(0).at("cycles") == total);
    return std::pair(total, nlohmann::json::parse(answer.out).at("cycles").get<std::int64_t>());
  };
  const auto [total, group] = compiled("free", {});
  const auto [slow_total, slow_group] = compiled("fixed", {"--schedule", "slow.toml"});
  REQUIRE(slow_total > total);
  CHECK(slow_group - group == slow_total - total);
  const std::string summary = run_stowage({"explain", "fixed"}).out;
  CHECK(summary.find("not proved best") != std::string::npos);
  CHECK(summary.find(" proved best of all") == std::string::npos);
}

}  // namespace
}  // namespace stowage::test
