// SPDX-License-Identifier: Apache-2.0
// A network with an operator that no plan of the LDM holds, the whole way: compiled, stored, opened again, run,
// compared, simulated, checked and reported.
#include <algorithm>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/onnx/model_writer.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

/// A mirrored edge may reach anywhere in its row, so that a core needs a whole one: 6 000 bytes.
void write_network() {
  ModelWriter model("mirror", 17, "an operator that needs a whole row");
  model.add_input("x", ElementType::f32, Shape{3, 1500});
  model.add_constant("pads", Tensor::of_int64s({4}, std::vector<std::int64_t>{0, 700, 0, 700}));
  model.add_node("Relu", "relu", {"x"}, {"positive"});
  model.add_node("Pad", "pad", {"positive", "pads"}, {"wide"}, {{"mode", std::string("reflect")}});
  model.add_node("Softmax", "softmax", {"wide"}, {"y"}, {{"axis", std::int64_t{1}}});
  model.add_output("y", ElementType::f32, Shape{3, 2900});
  Diagnostics diagnostics;
  REQUIRE(model.save("mirror.onnx", diagnostics));
}

const std::string small_ldm = "target.ldm.bytes=8192";  // 2 048 bytes for buffers

nlohmann::json step_named(const nlohmann::json& plan, const std::string& name) {
  for (const auto& step : plan.at("steps")) {
    if (step.at("name") == name) return step;
  }
  FAIL("no step " << name);
  return {};
}

}  // namespace

TEST_CASE("the management core computes what no plan of the LDM holds, and every command knows it") {
  const Workplace here;
  write_network();
  const std::string fusion = GENERATE("none", "exact");
  const std::string planner = GENERATE("swtvm", "searched");
  INFO(fusion << " " << planner);
  const ToolRun compiled = run_stowage({"compile", "mirror.onnx", "-o", "mirror", "--fusion", fusion, "--planner",
                                        planner, "--set", small_ldm, "--json"});
  INFO(compiled.err);
  REQUIRE(compiled.code == 0);
  CHECK(compiled.err.find("no plan of the LDM holds 1 operator: the management core computes it") != std::string::npos);
  CHECK(compiled.err.find("note: pad, ") != std::string::npos);
  CHECK(compiled.err.find("[ldm-capacity]") != std::string::npos);
  CHECK(compiled.err.find("help: choose a target with more LDM") != std::string::npos);
  const auto totals = nlohmann::json::parse(compiled.out);
  CHECK(totals.at("management_steps") == 1);
  CHECK(totals.at("kernels") == totals.at("groups").get<int>() - 1);
  CHECK(totals.at("management_cycles") < totals.at("cycles"));

  const auto plan = nlohmann::json::parse(read_text("mirror/plan.json"));
  const auto pad = step_named(plan, "pad");
  CHECK(pad.at("kind") == "management");
  CHECK_FALSE(step_named(plan, "softmax").contains("kind"));
  CHECK(pad.at("kernel") == "layer_pad");
  CHECK(pad.at("schedule").at("management_core").at("rule") == "ldm-capacity");
  CHECK(pad.at("cycles") == totals.at("management_cycles"));
  // No spawn lasts while the management core works.
  CHECK(step_named(plan, "softmax").at("schedule").at("launch") == "spawn");

  const std::string source = read_text("mirror/src/layers_management.c");
  CHECK(source.find("for (int i1 = 0; i1 < 2900; ++i1) {") != std::string::npos);
  CHECK(source.find("t_wide[2900 * i0 + i1] = t_positive[1500 * i0 + t_") != std::string::npos);
  CHECK(read_text("mirror/src/Makefile").find("layers_management.o") != std::string::npos);
  const std::string program = read_text("mirror/src/main.c");
  CHECK(program.find("layer_relu") < program.find("layer_pad("));
  CHECK(program.find("layer_pad(") < program.find("layer_softmax"));

  const ToolRun run = run_stowage({"run", "mirror", "--check", "--json"});
  INFO(run.err << run.out);
  REQUIRE(run.code == 0);
  CHECK(nlohmann::json::parse(run.out).at("agrees") == true);
  const ToolRun alone = run_stowage({"run", "mirror", "--check", "--op", "pad"});
  INFO(alone.err << alone.out);
  CHECK(alone.code == 0);

  const ToolRun explained = run_stowage({"explain", "mirror", "--op", "pad", "--steps"});
  CHECK(explained.err.empty());
  CHECK(explained.out.find("Computed by the management core, loop by loop on main memory: no plan of the LDM") !=
        std::string::npos);
  CHECK(explained.out.find("management_core.bytes_per_second") != std::string::npos);
  CHECK(explained.out.find("accepted: no plan of the LDM holds it") != std::string::npos);
  const ToolRun simulated = run_stowage({"simulate", "mirror", "--trace", "trace.json", "--json"});
  INFO(simulated.err);
  REQUIRE(simulated.code == 0);
  CHECK(simulated.out.find("management core") != std::string::npos);
  CHECK(read_text("trace.json").find("management core") != std::string::npos);
  CHECK(run_stowage({"check", "mirror"}).code == 0);
  CHECK(run_stowage({"diff", "mirror", "mirror"}).out.find("the same plan") != std::string::npos);
  CHECK(run_stowage({"report", "mirror", "-o", "mirror.html"}).code == 0);
  const std::string page = read_text("mirror.html");
  CHECK(page.find("Computed by the management core, loop by loop on main memory: no plan of the LDM") !=
        std::string::npos);
  CHECK(page.find("A view") == std::string::npos);
  CHECK(run_stowage({"report", "mirror", "-o", "mirror.csv"}).code == 0);
}

TEST_CASE("a step of the management core that does not fit its operator or its target is damage") {
  const Workplace here;
  write_network();
  REQUIRE(run_stowage({"compile", "mirror.onnx", "-o", "mirror", "--fusion", "none", "--set", small_ldm}).code == 0);
  auto plan = nlohmann::json::parse(read_text("mirror/plan.json"));
  std::string complaint;
  SECTION("other loops") {
    for (auto& step : plan.at("steps")) {
      if (step.at("name") == "pad") step.at("nest").push_back("more");
    }
    complaint = "is not that of its operator";
  }
  SECTION("a kind that there is not") {
    for (auto& step : plan.at("steps")) {
      if (step.at("name") == "pad") step.at("kind") = "magic";
    }
    complaint = "'pad' is of the kind 'magic', which this tool has not";
  }
  SECTION("a target without that core") {
    auto& target = plan.at("target");
    const auto from = std::find(target.begin(), target.end(), "[management_core]");
    REQUIRE(from != target.end());
    target.erase(from, target.end());
    for (auto& line : target) {
      if (line.get<std::string>().starts_with("assumed")) line = "assumed = []";
    }
    complaint = "is given to the management core, which its target has not";
  }
  write_text("mirror/plan.json", plan.dump(1));
  const ToolRun explained = run_stowage({"explain", "mirror"});
  CHECK(explained.code == 1);
  INFO(explained.err);
  CHECK(explained.err.find(complaint) != std::string::npos);
}

TEST_CASE("a folder from before there were kinds has its management step by its schedule") {
  const Workplace here;
  write_network();
  REQUIRE(run_stowage({"compile", "mirror.onnx", "-o", "mirror", "--fusion", "none", "--set", small_ldm}).code == 0);
  auto plan = nlohmann::ordered_json::parse(read_text("mirror/plan.json"));
  for (auto& step : plan.at("steps")) step.erase("kind");
  write_text("mirror/plan.json", plan.dump(1));
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"run", "mirror", "--check"}, {"check", "mirror"}}) {
    const ToolRun run = run_stowage(command);
    INFO(run.err);
    CHECK(run.code == 0);
  }
}

TEST_CASE("a step's kind says that it has no loop nest to check, not what it takes of the LDM") {
  const Workplace here;
  write_network();
  REQUIRE(run_stowage({"compile", "mirror.onnx", "-o", "mirror", "--fusion", "none", "--set", small_ldm}).code == 0);
  auto plan = nlohmann::json::parse(read_text("mirror/plan.json"));
  for (auto& step : plan.at("steps")) step.at("ldm_bytes") = step.at("name") == "pad" ? 64 : 0;
  write_text("mirror/plan.json", plan.dump(1));
  const ToolRun relu = run_stowage({"check", "mirror", "--op", "relu"});
  INFO(relu.err);
  CHECK(relu.code == 0);
  CHECK(relu.out.find("relu: good") != std::string::npos);
  CHECK(run_stowage({"check", "mirror", "--op", "pad"}).err.find("no fused operator 'pad' is launched") !=
        std::string::npos);
}

TEST_CASE("without a management core such an operator is refused as ever") {
  const Workplace here;
  write_network();
  write_text("bare.toml", R"(name = "bare"
clock_hz = 1e9
[main_memory]
line_bytes = 128
[ldm]
bytes = 8192
reserved = 6144
alignment = 32
[cores]
count = 16
mesh_rows = 4
mesh_columns = 4
vector_lanes = 4
vector_flops_per_cycle = 8
scalar_flops_per_cycle = 2
launch_seconds = 20e-6
[dma]
good_block_bytes = 256
alignment = 4
startup_cycles = 400
bandwidth = [{ block_bytes = 256, bytes_per_second = 20e9 }]
)");
  const ToolRun compiled = run_stowage({"compile", "mirror.onnx", "--target", "bare.toml"});
  CHECK(compiled.code == 1);
  CHECK(compiled.err.find("fused operator pad: ") != std::string::npos);
  CHECK(compiled.err.find("[ldm-capacity]") != std::string::npos);
}

}  // namespace stowage::test
