// SPDX-License-Identifier: Apache-2.0
// `--cost`: by which evaluator strategies compare groups, from the option to the plan's folder and back.
#include <map>
#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

void write_lenet() { REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0); }

nlohmann::json json_of(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const ToolRun run = run_stowage(arguments);
  INFO(run.err);
  REQUIRE(run.code == 0);
  return nlohmann::json::parse(run.out);
}

}  // namespace

TEST_CASE("groups compared by simulation: the plan's folder knows it, and all figures go together") {
  const Workplace here;
  write_lenet();
  const nlohmann::json compiled = json_of({"compile", "lenet.onnx", "--cost", "simulated", "-o", "lenet"});
  CHECK(compiled["cost"] == "simulated");
  CHECK(compiled["command"] ==
        "stowage compile lenet.onnx --target sw26010 --fusion exact --planner searched --cost simulated");
  CHECK(compiled["search"]["proved"] == true);
  CHECK(compiled["search"]["lower_bound"] == compiled["evaluated_cycles"]);

  const nlohmann::json simulated = json_of({"simulate", "lenet"});
  CHECK(simulated["cycles"] == compiled["evaluated_cycles"]);
  CHECK(simulated["closed_form_cycles"] == compiled["cycles"]);

  // Of every chosen candidate the record has the simulated cycles.
  std::map<std::string, std::int64_t> of_operator;
  for (const nlohmann::json& step : simulated["fused_operators"]) {
    of_operator[step["name"].get<std::string>()] = step["cycles"].get<std::int64_t>();
  }
  const nlohmann::json plan = nlohmann::json::parse(read_text("lenet/plan.json"));
  CHECK(plan["cost"] == "simulated");
  std::int64_t chosen = 0;
  const nlohmann::json trace = nlohmann::json::parse(read_text("lenet/trace.json"));
  for (const nlohmann::json& row : trace["fusion"]["candidates"]) {
    if (row["fate"] == "chosen") chosen += row["cycles"].get<std::int64_t>();
  }
  CHECK(chosen == compiled["evaluated_cycles"]);

  const ToolRun explained = run_stowage({"explain", "lenet"});
  REQUIRE(explained.code == 0);
  CHECK(explained.out.find("| time by simulation") != std::string::npos);
  CHECK(explained.out.find("at the cycles that simulation tells of the plan that planner searched finds for each") !=
        std::string::npos);
  const ToolRun text = run_stowage({"compile", "lenet.onnx", "--cost", "simulated"});
  CHECK(explained.out.find(text.out.substr(text.out.find("\n\n"))) != std::string::npos);
}

TEST_CASE("what another planner takes is said by the plan's evaluator, and names it") {
  const Workplace here;
  write_lenet();
  const nlohmann::json simulated = json_of({"compile", "lenet.onnx", "--cost", "simulated"});
  const nlohmann::json closed = json_of({"compile", "lenet.onnx"});
  REQUIRE(simulated["others"].size() == 1);
  CHECK(simulated["others"][0]["cost"] == "simulated");
  CHECK(closed["others"][0]["cost"] == "closed");
  CHECK(simulated["others"][0]["cycles"] != closed["others"][0]["cycles"]);
  const auto row = [](const std::string& text) {
    const std::size_t at = text.find("| by planner swtvm");
    return text.substr(at, text.find('\n', at) - at);
  };
  CHECK(row(run_stowage({"compile", "lenet.onnx", "--cost", "simulated"}).out).find(", by simulation |") !=
        std::string::npos);
  CHECK(row(run_stowage({"compile", "lenet.onnx"}).out).find("simulation") == std::string::npos);
}

TEST_CASE("the closed form is the evaluator of a compilation that names none") {
  const Workplace here;
  write_lenet();
  const nlohmann::json usual = json_of({"compile", "lenet.onnx", "-o", "a"});
  const nlohmann::json named = json_of({"compile", "lenet.onnx", "--cost", "closed", "-o", "b"});
  CHECK(usual == named);
  CHECK(files_below("a") == files_below("b"));
  CHECK(usual["cost"] == "closed");
  CHECK_FALSE(usual.contains("evaluated_cycles"));
}

TEST_CASE("evaluators share no costs on disk") {
  const Workplace here;
  write_lenet();
  const auto compile = [](const char* cost) {
    return json_of({"compile", "lenet.onnx", "--cost", cost, "--cost-cache", "cache"});
  };
  const nlohmann::json closed = compile("closed");
  const nlohmann::json simulated = compile("simulated");
  CHECK(simulated["evaluated_cycles"] != closed["cycles"]);
  CHECK(compile("closed") == closed);
  CHECK(compile("simulated") == simulated);
  CHECK(json_of({"compile", "lenet.onnx", "--cost", "simulated", "--cost-cache", "none"}) == simulated);
}

TEST_CASE("an evaluator that there is not") {
  const Workplace here;
  write_lenet();
  const ToolRun run = run_stowage({"compile", "lenet.onnx", "--cost", "simulatd"});
  CHECK(run.code == 1);
  CHECK(run.err == "error: no cost 'simulatd' [unknown-cost]\n  help: did you mean 'simulated'?\n");

  REQUIRE(run_stowage({"compile", "lenet.onnx", "-o", "lenet"}).code == 0);
  std::string plan = read_text("lenet/plan.json");
  const std::string cost = "\"cost\": \"closed\"";
  plan.replace(plan.find(cost), cost.size(), "\"cost\": \"oracle\"");
  write_text("lenet/plan.json", plan);
  const ToolRun damaged = run_stowage({"explain", "lenet"});
  CHECK(damaged.code == 1);
  CHECK(damaged.err.find("its cost is 'oracle', which this tool has not [damaged-plan]") != std::string::npos);
}

TEST_CASE("a batch sweeps the evaluator") {
  const Workplace here;
  write_text("jobs.toml",
             "[[job]]\nname = \"lenet\"\nnetwork = \"lenet\"\n"
             "[job.sweep]\ncost = [\"closed\", \"simulated\"]\n");
  REQUIRE(run_stowage({"batch", "jobs.toml", "-o", "out"}).code == 0);
  std::map<std::string, std::string> costs;
  const std::string lines = read_text("out/results.jsonl");
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin);
    const nlohmann::json row = nlohmann::json::parse(lines.substr(begin, end - begin));
    costs[row["job"].get<std::string>()] = row["cost"].get<std::string>();
    begin = end + 1;
  }
  REQUIRE(costs.size() == 2);
  for (const auto& [job, cost] : costs) {
    CHECK(job.find(cost) != std::string::npos);
    CHECK(nlohmann::json::parse(read_text("out/" + job + "/plan.json"))["cost"] == cost);
  }
}

TEST_CASE("a comparison says that groups were compared otherwise") {
  const Workplace here;
  write_lenet();
  REQUIRE(run_stowage({"compile", "lenet.onnx", "-o", "a"}).code == 0);
  REQUIRE(run_stowage({"compile", "lenet.onnx", "--cost", "simulated", "-o", "b"}).code == 0);
  CHECK(run_stowage({"diff", "a", "b"}).out.find("| cost ") != std::string::npos);
  CHECK(run_stowage({"diff", "a", "a"}).out.find("| cost ") == std::string::npos);
}

}  // namespace stowage::test
