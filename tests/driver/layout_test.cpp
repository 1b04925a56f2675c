// SPDX-License-Identifier: Apache-2.0
// Layouts of pictures as a user meets them: a plan's folder without its model, a misspelt layout, and a batch's key.
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/onnx/model_writer.h"
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

TEST_CASE("without --layout the published planner has pictures as ONNX has them, the others in blocks") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "n.onnx"}).code == 0);
  const auto layout = [](const std::vector<std::string>& options) {
    std::vector<std::string> command = {"compile", "n.onnx", "--json", "-o", "plan", "--force"};
    command.insert(command.end(), options.begin(), options.end());
    const auto json = nlohmann::json::parse(run_stowage(command).out);
    const auto plan = nlohmann::json::parse(read_text("plan/plan.json"));
    CHECK(plan.at("layout") == json.at("layout"));
    CHECK((plan.dump().find("channel_blocks") != std::string::npos) == (json.at("layout") == "blocked"));
    return json.at("layout").get<std::string>();
  };
  CHECK(layout({}) == "blocked");
  CHECK(layout({"--planner", "swtvm"}) == "given");
  CHECK(layout({"--planner", "swtvm", "--layout", "blocked"}) == "blocked");
  CHECK(layout({"--layout", "given"}) == "given");
}

TEST_CASE("pictures in blocks of channels take less than as ONNX has them, between convolutions of many channels") {
  const Workplace here;
  constexpr std::int64_t channels = 64;
  const Shape picture = {1, channels, 14, 14};
  ModelWriter model("two", 13, "two convolutions");
  model.add_input("x", ElementType::f32, picture);
  const std::vector<float> weights(channels * channels * 9, 0.5F);
  for (const char* const w : {"w1", "w2"})
    model.add_constant(w, Tensor::of_floats({channels, channels, 3, 3}, weights));
  const Attributes around = {{"pads", std::vector<std::int64_t>(4, 1)}};
  model.add_node("Conv", "first", {"x", "w1"}, {"y"}, around);
  model.add_node("Conv", "second", {"y", "w2"}, {"z"}, around);
  model.add_output("z", ElementType::f32, picture);
  Diagnostics diagnostics;
  REQUIRE(model.save("two.onnx", diagnostics));
  const auto cycles = [](const std::string& layout) {
    const auto json = nlohmann::json::parse(run_stowage({"compile", "two.onnx", "--json", "--layout", layout}).out);
    return json.at("cycles").get<std::int64_t>();
  };
  CHECK(cycles("blocked") < cycles("given"));
}

TEST_CASE("a plan of the published planner costs beside another what it takes alone, however the layout is asked for") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "n.onnx"}).code == 0);
  const auto compiled = [](std::vector<std::string> options) {
    options.insert(options.begin(), {"compile", "n.onnx", "--fusion", "none", "--json"});
    return nlohmann::json::parse(run_stowage(options).out);
  };
  const auto published = compiled({"--planner", "swtvm"}).at("cycles");
  CHECK(compiled({}).at("others").at(0).at("cycles") == published);
  CHECK(compiled({"--layout", "blocked"}).at("others").at(0).at("cycles") == published);
  CHECK(compiled({"--layout", "given"}).at("others").at(0).at("cycles") == published);
}

TEST_CASE("a group of a view that only blocks have compiles, without a published plan beside it") {
  const Workplace here;
  ModelWriter model("pooled", 13, "a picture of one pixel that leaves its blocks by a view");
  model.add_input("x", ElementType::f32, {1, 3, 4, 4});
  model.add_output("y", ElementType::f32, {1, 8, 1, 1});
  model.add_constant("w", Tensor::of_floats({8, 3, 1, 1}, std::vector<float>(24, 0.5F)));
  model.add_node("Conv", "conv", {"x", "w"}, {"c"});
  model.add_node("GlobalMaxPool", "pool", {"c"}, {"y"});
  Diagnostics diagnostics;
  REQUIRE(model.save("n.onnx", diagnostics));
  write_text("s.toml", "[[group]]\noperators = [\"y_view\"]\n");
  const ToolRun run = run_stowage({"compile", "n.onnx", "--schedule", "s.toml", "--json"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(nlohmann::json::parse(run.out).at("others").empty());
}

TEST_CASE("a schedule of channels that lie in blocks names these, and is told so") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "n.onnx"}).code == 0);
  for (const std::string key : {"buffer = { ff = 4 }", "lanes = { ff = 8 }"}) {
    INFO(key);
    write_text("s.toml", "[schedule.\"conv1\"]\n" + key + "\n");
    const std::vector<std::string> command = {"compile", "n.onnx", "--fusion", "none", "--schedule", "s.toml"};
    const ToolRun run = run_stowage(command);
    CHECK(run.code == 1);
    CHECK_THAT(run.err, Catch::Contains("'ff'"));
    if (key.starts_with("buffer")) CHECK_THAT(run.err, Catch::Contains("with --layout given they are 'ff'"));
    std::vector<std::string> given = command;
    given.insert(given.end(), {"--layout", "given"});
    CHECK(run_stowage(given).code == (key.starts_with("buffer") ? 0 : 1));  // 20 features are no number of eights
  }
}

TEST_CASE("the layout of a plan without the key follows from its graph, and one that there is not is damage") {
  const Workplace here;
  compile_lenet("plan");
  auto plan = nlohmann::ordered_json::parse(read_text("plan/plan.json"));
  plan.erase("layout");
  write_text("plan/plan.json", plan.dump(1));
  CHECK_THAT(run_stowage({"explain", "plan"}).out, Catch::Contains("exact, searched, blocked"));
  plan["layout"] = "sideways";
  write_text("plan/plan.json", plan.dump(1));
  const ToolRun damaged = run_stowage({"explain", "plan"});
  CHECK(damaged.code == 1);
  CHECK_THAT(damaged.err, Catch::Contains("its layout is 'sideways'"));
}

TEST_CASE("plans whose layouts differ are compared by name") {
  const Workplace here;
  compile_lenet("blocked");
  REQUIRE(run_stowage({"compile", "lenet.onnx", "-o", "given", "--layout", "given"}).code == 0);
  CHECK_THAT(run_stowage({"diff", "given", "blocked"}).out, Catch::Contains("| layout ") && Catch::Contains("other"));
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
