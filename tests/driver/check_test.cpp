// SPDX-License-Identifier: Apache-2.0
// The verdicts of `stowage run --check`: what is wrong, what is amplified, and what the input data are to blame for.
#include <cmath>
#include <filesystem>
#include <limits>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/npy.h"
#include "core/onnx/model_writer.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

void save(const ModelWriter& model, const std::string& path) {
  Diagnostics diagnostics;
  REQUIRE(model.save(path, diagnostics));
}

void save(const std::string& path, const Tensor& value) {
  Diagnostics diagnostics;
  REQUIRE(write_npy(path, value, diagnostics));
}

void compile(const std::string& model, const std::string& folder) {
  const ToolRun run = run_stowage({"compile", model, "-o", folder, "--fusion", "none", "--planner", "swtvm"});
  INFO(run.err);
  REQUIRE(run.code == 0);
}

/// y = x w, then the difference from what y ought to be, which is rounding alone, and that a thousand times as large.
void write_amplifying_network() {
  constexpr std::int64_t k = 512;
  constexpr std::int64_t n = 64;
  std::vector<float> x(k);
  std::vector<float> w(k * n);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i) * 0.37F);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = std::cos(static_cast<float>(i) * 0.71F);
  std::vector<float> minus(n);
  for (std::size_t j = 0; j < minus.size(); ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(x[i]) * static_cast<double>(w[i * n + j]);
    minus[j] = static_cast<float>(-sum);
  }
  ModelWriter model("amplify", 13, "a network that amplifies rounding");
  model.add_input("x", ElementType::f32, Shape{1, k});
  model.add_constant("w", Tensor::of_floats({k, n}, w));
  model.add_constant("minus", Tensor::of_floats({1, n}, minus));
  model.add_constant("thousand", Tensor::scalar(ElementType::f32, 1000));
  model.add_node("MatMul", "product", {"x", "w"}, {"y"});
  model.add_node("Add", "rest", {"y", "minus"}, {"z"});
  model.add_node("Mul", "louder", {"z", "thousand"}, {"loud"});
  model.add_output("loud", ElementType::f32, Shape{1, n});
  save(model, "amplify.onnx");
  save("x.npy", Tensor::of_floats({1, k}, x));
  compile("amplify.onnx", "amplify");
}

ToolRun check_amplifying() {
  return run_stowage({"run", "amplify", "--check", "--changed-sources", "--input", "x=x.npy", "--json"});
}

void replace_in_kernel(const std::string& name, const std::string& what, const std::string& by) {
  for (const auto& entry : fs::directory_iterator("amplify/src")) {
    if (!entry.path().filename().string().starts_with(name) || entry.path().extension() != ".c") continue;
    std::string text = read_text(entry.path());
    const auto at = text.find(what);
    if (at == std::string::npos) continue;
    write_text(entry.path(), text.replace(at, what.size(), by));
    return;
  }
  FAIL("no kernel of '" << name << "' has '" << what << "'");
}

nlohmann::json row_of(const nlohmann::json& json, const std::string& name) {
  for (const auto& row : json.at("fused_operators")) {
    if (row.at("name") == name) return row;
  }
  FAIL("no row of '" << name << "' in " << json.dump(1));
  return {};
}

}  // namespace

TEST_CASE("what makes more of an earlier difference is amplified, not wrong") {
  const Workplace here;
  write_amplifying_network();
  const ToolRun run = check_amplifying();
  INFO(run.err << run.out);
  REQUIRE(run.code == 0);
  const auto json = nlohmann::json::parse(run.out);
  CHECK(json.at("agrees") == true);
  CHECK(json.at("first_difference").is_null());
  CHECK(row_of(json, "product").at("agrees") == true);
  for (const char* name : {"rest", "louder"}) {
    CHECK(row_of(json, name).at("agrees") == false);
    CHECK(row_of(json, name).at("amplified") == true);
  }
  CHECK(json.at("outputs").at(0).at("agrees") == false);
  CHECK(json.at("outputs").at(0).at("amplified") == true);
  const ToolRun text = run_stowage({"run", "amplify", "--check", "--input", "x=x.npy"});
  CHECK(text.code == 0);
  CHECK(text.out.find("1 fused operator and 0 outputs agree with the reference\n"
                      "2 fused operators and 1 output are amplified: right for the operands that they got, which "
                      "differed from the reference's already\n") != std::string::npos);
  CHECK(text.out.find("DIFFERS") == std::string::npos);
}

TEST_CASE("a damaged kernel behind an amplified difference is still wrong, and so is one before it") {
  const Workplace here;
  write_amplifying_network();
  const std::string damaged = GENERATE("rest", "louder");
  if (damaged == "rest") replace_in_kernel("rest", " + ldm->", " - ldm->");
  if (damaged == "louder") replace_in_kernel("louder", " * ldm->", " + ldm->");
  const ToolRun run = check_amplifying();
  INFO(run.err << run.out);
  CHECK(run.code == 1);
  const auto json = nlohmann::json::parse(run.out);
  CHECK(json.at("agrees") == false);
  CHECK(json.at("first_difference") == damaged);
  CHECK(row_of(json, damaged).at("amplified") == false);
  CHECK(json.at("outputs").at(0).at("amplified") == false);
}

TEST_CASE("NaN and infinities of the input agree with the reference where the emulated output is right") {
  const Workplace here;
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  ModelWriter model("special", 13, "operators that meet NaN and infinities");
  model.add_input("x", ElementType::f32, Shape{4, 8});
  model.add_constant("one", Tensor::scalar(ElementType::f32, 1));
  model.add_node("Relu", "relu", {"x"}, {"of_relu"});
  model.add_node("Max", "max", {"x", "one"}, {"of_max"});
  model.add_node("Clip", "clip", {"x", "", "one"}, {"of_clip"});
  model.add_node("Exp", "exp", {"x"}, {"of_exp"});
  model.add_node("Softmax", "softmax", {"x"}, {"of_softmax"}, {{"axis", std::int64_t{1}}});
  for (const char* name : {"of_relu", "of_max", "of_clip", "of_exp", "of_softmax"}) {
    model.add_output(name, ElementType::f32, Shape{4, 8});
  }
  save(model, "special.onnx");
  save("x.npy", Tensor::of_floats({4, 8}, std::vector<float>{1, nan, 2, 3,    -4,   5,    6,    7,     //
                                                             1, inf, 2, 3,    -4,   5,    6,    7,     //
                                                             1, 2,   3, -inf, 4,    5,    -120, 1000,  //
                                                             1, 2,   3, -4,   -inf, -inf, 104,  88.5F}));
  compile("special.onnx", "special");
  const ToolRun run = run_stowage({"run", "special", "--check", "--input", "x=x.npy", "--json"});
  INFO(run.err << run.out);
  CHECK(run.code == 0);
  const auto json = nlohmann::json::parse(run.out);
  CHECK(json.at("agrees") == true);
  for (const auto& row : json.at("outputs")) CHECK(row.at("agrees") == true);
}

TEST_CASE("token ids outside the vocabulary are the user's input, with and without --check") {
  const Workplace here;
  constexpr std::int64_t words = 10;
  const bool reshaped = GENERATE(false, true);
  ModelWriter model("embed", 13, "a table that the input is looked up in");
  model.add_input("ids", ElementType::i64, Shape{2, 3});
  model.add_constant("table", Tensor::of_floats({words, 4}, std::vector<float>(words * 4, 0.5F)));
  model.add_constant("shape", Tensor::of_int64s({1}, std::vector<std::int64_t>{6}));
  if (reshaped) model.add_node("Reshape", "flat", {"ids", "shape"}, {"flat_ids"});
  model.add_node("Gather", "embedding", {"table", reshaped ? "flat_ids" : "ids"}, {"y"});
  model.add_output("y", ElementType::f32, reshaped ? Shape{6, 4} : Shape{2, 3, 4});
  save(model, "embed.onnx");
  compile("embed.onnx", "embed");
  for (const bool check : {false, true}) {
    const auto run = [&](std::vector<std::int64_t> ids) {
      save("ids.npy", Tensor::of_int64s({2, 3}, ids));
      std::vector<std::string> arguments = {"run", "embed", "--input", "ids=ids.npy"};
      if (check) arguments.emplace_back("--check");
      return run_stowage(arguments);
    };
    INFO("check " << check << ", reshaped " << reshaped);
    CHECK(run({0, 9, -1, -10, 3, 4}).code == 0);
    const ToolRun large = run({0, 1, 2, 3, 10, 999999999});
    CHECK(large.code == 1);
    CHECK(large.err ==
          "ids.npy: error: input ids: element [1,1] is 10, but 'embedding' looks it up along axis 0 of table, which "
          "has 10 "
          "elements [index-out-of-range]\n"
          "  note: 2 elements in all point outside\n"
          "  help: indices go from -10 to 9; negative ones count from the end\n");
    const ToolRun small = run({0, 1, -11, 3, 4, 5});
    CHECK(small.code == 1);
    CHECK(small.err.find("element [0,2] is -11") != std::string::npos);
  }
}

TEST_CASE("indices that are computed from an input are checked before anything is looked up with them") {
  const Workplace here;
  ModelWriter model("computed", 13, "looked-up indices look something up");
  model.add_input("ids", ElementType::i64, Shape{4});
  model.add_constant("shift", Tensor::of_int64s({1}, std::vector<std::int64_t>{5}));
  model.add_constant("hops", Tensor::of_int64s({8}, std::vector<std::int64_t>{0, 1, 2, 3, 0, 1, 2, 50}));
  model.add_constant("table", Tensor::of_floats({4, 2}, std::vector<float>(8, 0.5F)));
  model.add_node("Add", "move", {"ids", "shift"}, {"moved"});
  model.add_node("Gather", "hop", {"hops", "moved"}, {"hopped"});
  model.add_node("Gather", "embedding", {"table", "hopped"}, {"y"});
  model.add_output("y", ElementType::f32, Shape{4, 2});
  save(model, "computed.onnx");
  compile("computed.onnx", "computed");
  for (const char* check : {"--level=check", "--check"}) {
    const auto run = [&](std::vector<std::int64_t> ids) {
      save("ids.npy", Tensor::of_int64s({4}, ids));
      return run_stowage({"run", "computed", "--input", "ids=ids.npy", check});
    };
    CHECK(run({-5, -4, 0, 1}).code == 0);
    const ToolRun first = run({0, 1, 3, 0});
    CHECK(first.code == 1);
    INFO(first.err);
    CHECK(
        first.err.find("error: operator move: element [2] is 8, but 'hop' looks it up along axis 0 of hops, which has "
                       "8 elements [index-out-of-range]\n  note: computed from ids\n") == 0);
    CHECK(first.err.find("embedding") == std::string::npos);  // whose indices nobody knows
    const ToolRun second = run({0, 2, 1, 0});
    CHECK(second.code == 1);
    INFO(second.err);
    CHECK(second.err.find("error: operator hop: element [1] is 50, but 'embedding'") == 0);
  }
}

}  // namespace stowage::test
