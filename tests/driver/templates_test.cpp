// SPDX-License-Identifier: Apache-2.0
// Fusion templates of the user's own: compiled with, kept in the folder, listed, and wrong.
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <stop_token>

#include "core/operators.h"
#include "driver/report/report.h"
#include "driver/store/plan_file.h"
#include "driver/tool/tool_context.h"
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
        "stowage compile lenet.onnx --target sw26010 --fusion exact --planner searched "
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

/// Layers of two operators, each of which reads both of the layer before.
Graph ladder(int layers) {
  GraphBuilder builder("ladder");
  Diagnostics diagnostics;
  TensorId a = builder.add_input("a", ElementType::f32, {2, 2});
  TensorId b = builder.add_input("b", ElementType::f32, {2, 2});
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    const auto add = append_operator(builder, "Add", "add" + n, {}, {a, b}, "s" + n, {}, {}, diagnostics);
    const auto mul = append_operator(builder, "Mul", "mul" + n, {}, {a, b}, "p" + n, {}, {}, diagnostics);
    a = *add;
    b = *mul;
  }
  builder.mark_output(a);
  builder.mark_output(b);
  return std::move(builder).build();
}

TEST_CASE("what is left out of a template that fits nearly everything is said wherever a plan is") {
  const Workplace here;
  write_text("mine.toml", R"([[template]]
name = "everything"
[[template.vertex]]
name = "first"
role = "anchor"
kinds = ["@element_wise"]
[[template.vertex]]
name = "tail"
role = "epilogue"
kinds = ["@element_wise"]
repeat = 30
[[template.edge]]
from = "first"
to = "tail"
)");
  CompileRequest request;
  request.templates = "mine.toml";
  Diagnostics diagnostics;
  const auto compilation = compile_graph(ladder(40), request, diagnostics);
  REQUIRE(compilation);
  REQUIRE_FALSE(diagnostics.entries().empty());
  CHECK_FALSE(diagnostics.has_errors());
  const std::string warning = format_diagnostic(diagnostics.entries()[0]);
  INFO(warning);
  CHECK(warning.starts_with("mine.toml:2:8: warning: limit reached: template everything: the search from "));
  CHECK(warning.find(" [search-limit]\n  help: repeat less, or give its vertices conditions\n") != std::string::npos);
  const std::string said = text_of(compilation->fusion.limits.at(0));
  CHECK(report_markdown(*compilation).find(said) != std::string::npos);
  REQUIRE(write_compilation(*compilation, "out", false, diagnostics));
  const auto again = read_compilation("out", diagnostics);
  REQUIRE(again);
  CHECK(again->fusion == compilation->fusion);
  std::stop_source stopped;
  stopped.request_stop();
  Diagnostics of_stopped;
  CHECK_FALSE(read_compilation("out", of_stopped, stopped.get_token()));
  CHECK(of_stopped.entries().empty());
}

TEST_CASE("a limit of built-in templates is one note about the plan, without advice for those who write templates") {
  const Workplace here;
  Diagnostics diagnostics;
  const auto compilation = compile_graph(ladder(400), {}, diagnostics);
  REQUIRE(compilation);
  REQUIRE_FALSE(compilation->fusion.limits.empty());
  REQUIRE(diagnostics.entries().size() == 1);
  const Diagnostic& note = diagnostics.entries()[0];
  CHECK(note.code == "groups-left-out");
  CHECK(note.message ==
        "the plan is right but may not be the fastest: operators of this network can be fused in so many ways that not "
        "all were compared (template element_wise; report.md has the numbers)");
  CHECK(note.remedy.empty());
  CHECK(report_markdown(*compilation).find(text_of(compilation->fusion.limits.at(0))) != std::string::npos);

  std::ostringstream out;
  std::ostringstream err;
  Interrupt interrupt;
  print_warnings({out, err, interrupt, nullptr, false, built_in_backends(), {}}, diagnostics);
  CHECK(err.str() == "note: " + note.message + " [groups-left-out]\n");
}

TEST_CASE("numbers of an edited trace that are out of range are damage") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "lenet.onnx", "--fusion", "exact", "-o", "out"}).code == 0);
  const std::string trace = read_text("out/trace.json");
  const std::string plan = read_text("out/plan.json");
  const auto damage = [&](const std::string& file, const std::string& whole, const std::string& key,
                          const std::string& value) {
    const std::regex number("(\"" + key + "\": ?)-?[0-9]+");
    REQUIRE(std::regex_search(whole, number));
    write_text("out/" + file,
               std::regex_replace(whole, number, "$01" + value, std::regex_constants::format_first_only));
    const ToolRun run = run_stowage({"explain", "out"});
    INFO(key << " = " << value << ": " << run.err);
    CHECK(run.code == 1);
    CHECK(run.err.find("out/" + file + ": error: " + value + " stands where a whole number from ") == 0);
    write_text("out/" + file, whole);
  };
  for (const std::string key : {"cycles", "groups", "best_cycles", "lower_bound", "states", "nodes_left_out"}) {
    for (const std::string value : {"9223372036854775807", "18446744073709551615", "1e+300", "-1", "\"7\""}) {
      damage("trace.json", trace, key, value);
    }
  }
  damage("trace.json", trace, "loss", "-9223372036854775808");
  damage("plan.json", plan, "parts", "9223372036854775807");
  CHECK(run_stowage({"explain", "out"}).code == 0);
}

}  // namespace
}  // namespace stowage::test
