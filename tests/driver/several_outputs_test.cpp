// SPDX-License-Identifier: Apache-2.0
// Operators with several outputs through the tool: compiled, stored, opened again, run and compared.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/onnx/model_writer.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

/// A normalisation whose mean goes on and whose inverse deviation is an output, and a pool with its indices.
void write_network() {
  std::vector<float> scale(24);
  for (std::size_t i = 0; i < scale.size(); ++i) scale[i] = 0.5F + 0.1F * static_cast<float>(i);
  ModelWriter model("several", 17, "operators with several outputs");
  model.add_input("x", ElementType::f32, Shape{1, 3, 10, 24});
  model.add_constant("scale", Tensor::of_floats({24}, scale));
  model.add_node("LayerNormalization", "norm", {"x", "scale"}, {"y", "mean", "deviation"});
  model.add_node("Relu", "relu", {"y"}, {"positive"});
  model.add_node("Tanh", "tanh", {"mean"}, {"bounded"});
  model.add_node("MaxPool", "pool", {"positive"}, {"largest", "where"},
                 {{"kernel_shape", std::vector<std::int64_t>{2, 2}}, {"strides", std::vector<std::int64_t>{2, 2}}});
  model.add_output("bounded", ElementType::f32, Shape{1, 3, 10, 1});
  model.add_output("deviation", ElementType::f32, Shape{1, 3, 10, 1});
  model.add_output("largest", ElementType::f32, Shape{1, 3, 5, 12});
  model.add_output("where", ElementType::i64, Shape{1, 3, 5, 12});
  Diagnostics diagnostics;
  REQUIRE(model.save("several.onnx", diagnostics));
}

}  // namespace

TEST_CASE("a network of operators with several outputs is compiled, opened again and checked, output by output") {
  const Workplace here;
  write_network();
  const std::string fusion = GENERATE("none", "greedy", "tvm", "dnnvm", "exact");
  const std::string planner = GENERATE("swtvm", "searched");
  INFO(fusion << " " << planner);
  const ToolRun compiled =
      run_stowage({"compile", "several.onnx", "-o", "several", "--fusion", fusion, "--planner", planner});
  INFO(compiled.err);
  REQUIRE(compiled.code == 0);
  const ToolRun explained = run_stowage({"explain", "several"});
  CHECK(explained.err.empty());  // its sources are those that the stored plan makes: nothing of them is missing
  const auto plan = nlohmann::json::parse(read_text("several/plan.json"));
  const auto& steps = plan.at("steps");
  const auto norm =
      std::find_if(steps.begin(), steps.end(), [](const auto& step) { return step.at("name") == "norm"; });
  REQUIRE(norm != steps.end());
  CHECK(norm->at("output") == "y");
  CHECK(norm->at("further_outputs") == nlohmann::json({"mean", "deviation"}));
  const ToolRun run = run_stowage({"run", "several", "--check", "--json"});
  INFO(run.err << run.out);
  REQUIRE(run.code == 0);
  const auto json = nlohmann::json::parse(run.out);
  CHECK(json.at("agrees") == true);
  CHECK(json.at("outputs").size() == 4);
  std::size_t of_norm = 0;
  for (const auto& row : json.at("fused_operators")) of_norm += row.at("name") == "norm" ? 1 : 0;
  CHECK(of_norm == 3);
  const ToolRun one = run_stowage({"run", "several", "--check", "--op", "norm"});
  INFO(one.err << one.out);
  CHECK(one.code == 0);
  CHECK(run_stowage({"diff", "several", "several"}).code == 0);
}

TEST_CASE("a stored step that lacks an output of its operator is damaged") {
  const Workplace here;
  write_network();
  REQUIRE(run_stowage({"compile", "several.onnx", "-o", "several", "--fusion", "none"}).code == 0);
  auto plan = nlohmann::json::parse(read_text("several/plan.json"));
  for (auto& step : plan.at("steps")) {
    if (step.at("name") == "norm") step.at("further_outputs").erase(1);
  }
  write_text("several/plan.json", plan.dump(1));
  const ToolRun run = run_stowage({"explain", "several"});
  CHECK(run.code == 1);
  CHECK(run.err.find("its outputs are not its last operator's") != std::string::npos);
}

}  // namespace stowage::test
