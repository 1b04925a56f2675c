// SPDX-License-Identifier: Apache-2.0
// `stowage coverage` refuses what `stowage compile` refuses, with all places; and options that fix what a file leaves
// open.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/npy.h"
#include "core/onnx/model_writer.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

void save_network(const ModelWriter& model, const std::string& path) {
  Diagnostics diagnostics;
  REQUIRE(model.save(path, diagnostics));
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// A rectifier of one named dimension.
void write_dynamic(const std::string& path) {
  ModelWriter model("dynamic", 13, "a dimension by name");
  model.add_input("x", ElementType::f32, std::vector<std::string>{"N", "4"});
  model.add_node("Relu", "relu", {"x"}, {"y"});
  model.add_output("y", ElementType::f32, std::vector<std::string>{"N", "4"});
  save_network(model, path);
}

}  // namespace

TEST_CASE("coverage refuses what compile refuses, with all places") {
  const Workplace here;
  ModelWriter model("many", 15, "one mistake of each kind");
  model.add_input("x", ElementType::f32, Shape{1, 2, 4, 4});
  model.add_input("h", ElementType::f16, Shape{4});
  model.add_constant("s", Tensor::of_floats({2}, std::vector<float>{1, 1}));
  model.add_node("Mod", "unsupported", {"x", "x"}, {"a"});  // behind it, a shape that ONNX knows
  model.add_node("BatchNormalization", "second1", {"a", "s", "s", "s", "s"}, {"b", "i"});
  model.add_node("BatchNormalization", "second2", {"x", "s", "s", "s", "s"}, {"c", "j"});
  model.add_node("BatchNormalization", "training", {"x", "s", "s", "s", "s"}, {"d", "m", "v"},
                 {{"training_mode", std::int64_t{1}}});
  model.add_node("Cast", "half", {"x"}, {"e"}, {{"to", std::int64_t{10}}});
  model.add_node("Relu", "of_half", {"h"}, {"f"});
  model.add_node("Softmax", "axis", {"a"}, {"g"}, {{"axis", std::int64_t{7}}});
  for (const char* name : {"b", "c", "d", "g"}) model.add_output(name, ElementType::f32, Shape{1, 2, 4, 4});
  for (const char* name : {"i", "j"}) model.add_output(name, ElementType::f32, Shape{2});
  for (const char* name : {"e", "f"}) model.add_output(name, ElementType::f16, Shape{4});
  save_network(model, "many.onnx");
  const ToolRun coverage = run_stowage({"coverage", "many.onnx"});
  const ToolRun compile = run_stowage({"compile", "many.onnx"});
  CHECK(coverage.code == 1);
  CHECK(compile.code == 1);
  CHECK(coverage.err == compile.err);
  INFO(coverage.err);
  CHECK(times(coverage.err, "[unsupported-operator]") == 1);
  CHECK(times(coverage.err, "[unsupported-type]") == 1);
  CHECK(coverage.err.find("input h") != std::string::npos);
  CHECK(coverage.err.find("node half (Cast)") != std::string::npos);
  CHECK(coverage.err.find("node second1 (BatchNormalization): its output 1 ('i') is not supported") !=
        std::string::npos);
  CHECK(coverage.err.find("node second2 (BatchNormalization): its output 1 ('j') is not supported") !=
        std::string::npos);
  CHECK(times(coverage.err, "[training-mode]") + times(coverage.err, "node training (BatchNormalization)") >= 1);
  CHECK(coverage.err.find("node axis (Softmax)") != std::string::npos);
  CHECK(coverage.err.find("of_half") == std::string::npos);  // its operand is to blame
  CHECK(coverage.out.find("the network cannot be compiled: 6 errors") != std::string::npos);
  const auto json = nlohmann::json::parse(run_stowage({"coverage", "many.onnx", "--json"}).out);
  CHECK(json.at("supported") == false);
  CHECK(json.at("diagnostics").size() == 6);
}

TEST_CASE("coverage wants the dynamic dimensions that compile wants") {
  const Workplace here;
  write_dynamic("dynamic.onnx");
  const ToolRun open = run_stowage({"coverage", "dynamic.onnx"});
  CHECK(open.code == 1);
  CHECK(open.err == run_stowage({"compile", "dynamic.onnx"}).err);
  CHECK(open.err.find("[dynamic-dimension]") != std::string::npos);
  CHECK(run_stowage({"coverage", "dynamic.onnx", "--dim", "N=3"}).code == 0);
  CHECK(run_stowage({"coverage", "dynamic.onnx", "--dim", "N=x"}).code == 2);
}

TEST_CASE("a dimension may be 0 where the network may be empty") {
  const Workplace here;
  write_dynamic("dynamic.onnx");
  const ToolRun compile = run_stowage({"compile", "dynamic.onnx", "--dim", "N=0", "-o", "empty"});
  INFO(compile.err);
  REQUIRE(compile.code == 0);
  const ToolRun run = run_stowage({"run", "empty", "--check", "--save-outputs", "out"});
  INFO(run.err << run.out);
  CHECK(run.code == 0);
  Diagnostics diagnostics;
  const auto output = read_npy("out/y.npy", diagnostics);
  REQUIRE(output);
  CHECK(output->shape() == Shape{0, 4});
  CHECK(run_stowage({"compile", "dynamic.onnx", "--dim", "N=-1"}).code == 2);
}

TEST_CASE("a file of --bind that is missing is one error") {
  const Workplace here;
  write_dynamic("dynamic.onnx");
  const ToolRun run = run_stowage({"compile", "dynamic.onnx", "--bind", "x=none.npy"});
  CHECK(run.code == 1);
  INFO(run.err);
  CHECK(times(run.err, "error:") == 1);
  CHECK(run.err.find("none.npy: error:") == 0);
  CHECK(run_stowage({"coverage", "dynamic.onnx", "--bind", "x=none.npy"}).err == run.err);
}

}  // namespace stowage::test
