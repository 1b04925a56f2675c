// SPDX-License-Identifier: Apache-2.0
// `stowage train-cost`, and compiling with what it learned.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

using Json = nlohmann::json;

std::vector<std::string> training(const std::string& file) {
  return {"train-cost", "--network", "lenet", "--samples", "60", "-o", file};
}

void write_lenet() { REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0); }

/// Compiles LeNet by that evaluator and wants it refused; says with what.
std::string refusal(const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {"compile", "lenet.onnx"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const ToolRun run = run_stowage(arguments);
  CHECK(run.code == 1);
  return run.err;
}

}  // namespace

TEST_CASE("a learned evaluator is trained, kept and used") {
  const Workplace here;
  write_lenet();
  const ToolRun trained = run_stowage(training("model.json"));
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  for (const char* row :
       {"| trained with ", "| held out ", "| held out, chosen plans ", "| held out, if it never asked ",
        "| held out, by the closed form ", "learned evaluator: predicts "}) {
    CHECK(trained.out.find(row) != std::string::npos);
  }

  // The same command writes the same file, on however many threads.
  std::vector<std::string> again = training("again.json");
  again.insert(again.end(), {"-j", "1"});
  REQUIRE(run_stowage(again).code == 0);
  CHECK(read_text("model.json") == read_text("again.json"));
  const Json model = Json::parse(read_text("model.json"));
  CHECK(model["command"] == "stowage train-cost --target sw26010 --samples 60 --seed 1 --network lenet");
  CHECK(model["errors"]["held_out"]["groups"].get<int>() > 0);
  CHECK(trained.out.find("held_out") == std::string::npos);

  const std::vector<std::string> compile = {"compile",    "lenet.onnx", "--cost", "learned", "--cost-model",
                                            "model.json", "-o",         "lenet",  "--json"};
  const ToolRun compiled = run_stowage(compile);
  INFO(compiled.err);
  REQUIRE(compiled.code == 0);
  const Json json = Json::parse(compiled.out);
  CHECK(json["cost"] == "learned");
  CHECK(json["search"]["proved"] == true);
  CHECK(json["search"]["lower_bound"] == json["evaluated_cycles"]);

  // The folder has all of it, whatever becomes of the file.
  const Json plan = Json::parse(read_text("lenet/plan.json"));
  CHECK(plan["cost_model"]["path"] == "model.json");
  std::string kept;
  for (const Json& line : plan["cost_model"]["text"]) kept += line.get<std::string>() + "\n";
  CHECK(kept == read_text("model.json"));
  const ToolRun explained = run_stowage({"explain", "lenet"});
  CHECK(explained.code == 0);
  CHECK(explained.out.find("| time by the learned evaluator") != std::string::npos);
}

TEST_CASE("what a learned evaluator is refused for") {
  const Workplace here;
  write_lenet();
  REQUIRE(run_stowage(training("model.json")).code == 0);
  CHECK(run_stowage(training("model.json")).err.find("[output-exists]") != std::string::npos);

  CHECK(refusal({"--cost", "learned"}).find("[no-cost-model]") != std::string::npos);
  CHECK(refusal({"--cost-model", "model.json"}).find("[idle-cost-model]") != std::string::npos);
  const std::string other =
      refusal({"--cost", "learned", "--cost-model", "model.json", "--set", "target.dma.startup_cycles=400"});
  CHECK(other.find("model.json") != std::string::npos);
  CHECK(other.find("[other-target]") != std::string::npos);

  const std::string whole = read_text("model.json");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    REQUIRE(text.find(from) != std::string::npos);
    write_text("other.json", text.replace(text.find(from), from.size(), to));
    return refusal({"--cost", "learned", "--cost-model", "other.json"});
  };
  CHECK(changed("\"stowage-cost-model\"", "\"thesis\"").find("[damaged-cost-model]") != std::string::npos);
  CHECK(changed("\"version\": 2", "\"version\": 7").find("its version is 7") != std::string::npos);
  CHECK(changed("\"hidden gets\"", "\"hidden\"").find("[other-features]") != std::string::npos);
  CHECK(changed("\"trees\": [\n  [[", "\"trees\": [\n  [[9").find("[damaged-cost-model]") != std::string::npos);
  CHECK(changed("\"doubt_trees\": [\n  [[", "\"doubt_trees\": [\n  [[9").find("[damaged-cost-model]") !=
        std::string::npos);
  write_text("other.json", whole.substr(0, whole.size() / 2));
  CHECK(refusal({"--cost", "learned", "--cost-model", "other.json"}).find("[damaged-cost-model]") != std::string::npos);
  CHECK(refusal({"--cost", "learned", "--cost-model", "none.json"}).find("none.json") != std::string::npos);
}

TEST_CASE("a plan by a learned evaluator is not asked about another target") {
  const Workplace here;
  write_lenet();
  REQUIRE(run_stowage(training("model.json")).code == 0);
  REQUIRE(
      run_stowage({"compile", "lenet.onnx", "--cost", "learned", "--cost-model", "model.json", "-o", "lenet"}).code ==
      0);
  const auto sensitivity = [](const char* to) {
    return run_stowage({"sensitivity", "lenet", "--key", "target.ldm.bytes", "--from", "65536", "--to", to});
  };
  const ToolRun refused = sensitivity("131072");
  CHECK(refused.code == 1);
  CHECK(refused.out.empty());
  CHECK(refused.err.find("[other-target]") != std::string::npos);
  CHECK(refused.err.find("compile the network with --cost closed or --cost simulated") != std::string::npos);
  // About its own it may be.
  const ToolRun own = sensitivity("65536");
  INFO(own.err);
  CHECK(own.code == 0);
}

TEST_CASE("a batch names a learned evaluator beside its file") {
  const Workplace here;
  REQUIRE(run_stowage(training("model.json")).code == 0);
  write_text("jobs.toml",
             "[[job]]\nname = \"lenet\"\nnetwork = \"lenet\"\ncost = \"learned\"\ncost_model = \"model.json\"\n");
  const ToolRun run = run_stowage({"batch", "jobs.toml", "-o", "out"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(Json::parse(read_text("out/lenet/plan.json"))["cost"] == "learned");
}

}  // namespace stowage::test
