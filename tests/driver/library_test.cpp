// SPDX-License-Identifier: Apache-2.0
// Matrix products that a vendor's library computes, the whole way: asked for, compiled, stored, opened again, run,
// compared, simulated, checked and reported; and why another product is not the library's.
#include <algorithm>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/onnx/model_writer.h"
#include "tests/driver/tool_runner.h"
#include "tests/emitter/vendor_compile.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

/// A large product, which a library does faster than a loop nest by more than a spawn, a small one, where it is slower,
/// and one with a transposed operand and a bias, which is no product alone.
void write_products() {
  ModelWriter model("products", 17, "products of several forms");
  model.add_input("x", ElementType::f32, Shape{2, 256, 512});
  model.add_input("w", ElementType::f32, Shape{512, 512});
  model.add_input("v", ElementType::f32, Shape{512, 4});
  model.add_input("u", ElementType::f32, Shape{8, 4});
  model.add_input("bias", ElementType::f32, Shape{8});
  model.add_constant("rows", Tensor::of_int64s({2}, std::vector<std::int64_t>{512, 4}));
  model.add_node("MatMul", "large", {"x", "w"}, {"a"});
  model.add_node("MatMul", "small", {"a", "v"}, {"b"});
  model.add_node("Reshape", "flat", {"b", "rows"}, {"c"});
  model.add_node("Gemm", "biased", {"c", "u", "bias"}, {"y"}, {{"transB", std::int64_t{1}}});
  model.add_output("y", ElementType::f32, Shape{512, 8});
  Diagnostics diagnostics;
  REQUIRE(model.save("products.onnx", diagnostics));
}

/// With which the large product is the library's and the small one is not.
const std::vector<std::string> fast_library = {
    "--set", "target.library.xmath.call_seconds=1e-6", "--set",
    "target.library.xmath.efficiency=[{extent=32,share=1e-4},{extent=96,share=1.0}]"};

std::vector<std::string> command(std::vector<std::string> first, const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

nlohmann::json row_named(const nlohmann::json& plan, const std::string& name) {
  for (const auto& step : plan.at("steps")) {
    if (step.at("name") == name) return step;
  }
  FAIL("no step " << name);
  return {};
}

std::string source_of(const ToolRun& compiled, const std::string& folder) {
  INFO(compiled.err);
  REQUIRE(compiled.code == 0);
  return read_text(folder + "/src/layers_library.c");
}

}  // namespace

TEST_CASE("a library computes the product that it is faster at, and every command knows it") {
  const Workplace here;
  write_products();
  const std::string fusion = GENERATE("none", "exact");
  const std::string planner = GENERATE("swtvm", "searched");
  INFO(fusion << " " << planner);
  const ToolRun compiled = run_stowage(command({"compile", "products.onnx", "-o", "products", "--fusion", fusion,
                                                "--planner", planner, "--library", "xmath", "--json"},
                                               fast_library));
  INFO(compiled.err);
  REQUIRE(compiled.code == 0);
  const auto totals = nlohmann::json::parse(compiled.out);
  CHECK(totals.at("library_steps") == 1);
  CHECK(totals.at("command").get<std::string>().find("--library xmath") != std::string::npos);

  const auto plan = nlohmann::json::parse(read_text("products/plan.json"));
  const auto large = row_named(plan, "large");
  CHECK(large.at("kind") == "library");
  CHECK(large.at("kernel") == "layer_large");
  CHECK(large.at("schedule").at("library").at("name") == "xmath");
  CHECK(large.at("schedule").at("library").at("nest_cycles") > large.at("cycles"));
  CHECK(large.at("cycles") == totals.at("library_cycles"));
  std::int64_t sum = 0;
  for (const auto& term : large.at("time")) sum += term.at("cycles").get<std::int64_t>();
  CHECK(large.at("cycles") == sum);
  CHECK_FALSE(row_named(plan, "small").at("schedule").contains("library"));
  // Its kernel cannot stay in the spawn of one before it.
  CHECK(row_named(plan, "small").at("schedule").at("launch") == "spawn");

  CHECK(read_text("products/src/Makefile").find("-lxMath_manycore") != std::string::npos);
  CHECK(read_text("products/src/Makefile").find("layers_library.o") != std::string::npos);

  const ToolRun run = run_stowage({"run", "products", "--check", "--json"});
  INFO(run.err << run.out);
  REQUIRE(run.code == 0);
  CHECK(nlohmann::json::parse(run.out).at("agrees") == true);
  const ToolRun alone = run_stowage({"run", "products", "--check", "--op", "large"});
  INFO(alone.err << alone.out);
  CHECK(alone.code == 0);

  const ToolRun explained = run_stowage({"explain", "products", "--op", "large", "--steps"});
  INFO(explained.err << explained.out);
  CHECK(
      explained.out.find("Computed by a function of a library, which launches kernels of its own: xmath does it in") !=
      std::string::npos);
  CHECK(explained.out.find("library.xmath.call_seconds") != std::string::npos);
  CHECK(explained.out.find("accepted: library xmath computes it: xmath does it in") != std::string::npos);
  const ToolRun small = run_stowage({"explain", "products", "--op", "small", "--steps"});
  INFO(small.out);
  CHECK(small.out.find("refused: library xmath does not compute it: xmath would take") != std::string::npos);
  const ToolRun biased = run_stowage({"explain", "products", "--op", "biased", "--steps"});
  INFO(biased.out);
  CHECK(biased.out.find("refused: library xmath does not compute it: it has 2 stages") != std::string::npos);

  const ToolRun simulated = run_stowage({"simulate", "products", "--trace", "trace.json", "--json"});
  INFO(simulated.err);
  REQUIRE(simulated.code == 0);
  CHECK(read_text("trace.json").find("library") != std::string::npos);
  CHECK(run_stowage({"check", "products"}).code == 0);
  CHECK(run_stowage({"diff", "products", "products"}).out.find("the same plan") != std::string::npos);
  CHECK(run_stowage({"report", "products", "-o", "products.html"}).code == 0);
  CHECK(read_text("products.html").find("Computed by a function of a library") != std::string::npos);
  CHECK(read_text("products/report.md").find("by the library") != std::string::npos);
}

TEST_CASE("a call is emitted as written down, for operands by rows and by columns") {
  const Workplace here;
  ModelWriter model("transposed", 17, "a product of transposed operands");
  model.add_input("A", ElementType::f32, Shape{5, 3});
  model.add_input("B", ElementType::f32, Shape{7, 5});
  model.add_node("Gemm", "product", {"A", "B"}, {"C"}, {{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}});
  model.add_output("C", ElementType::f32, Shape{3, 7});
  Diagnostics diagnostics;
  REQUIRE(model.save("transposed.onnx", diagnostics));
  const std::string text = source_of(run_stowage({"compile", "transposed.onnx", "-o", "plan", "--planner", "swtvm",
                                                  "--library", "xmath", "--set", "target.library.xmath.call_seconds=0",
                                                  "--set", "target.library.xmath.efficiency=[{extent=1,share=1}]"}),
                                     "plan");
  CHECK_THAT(text.substr(text.find("#include \"athread.h\"")),
             Catch::Contains("#ifdef SW_EMULATION /* computes plainly */\n"
                             "#include \"swemu_library.h\"\n"
                             "#define cblas_sgemm swemu_sgemm\n"
                             "#else\n"
                             "#include \"cblas.h\"\n"
                             "#endif\n") &&
                 Catch::Contains("void layer_product(float *t_A, float *t_B, float *t_C) {\n"
                                 "  cblas_sgemm(CblasRowMajor, CblasTrans, CblasTrans,\n"
                                 "      3, 7, 5, 1.0f, t_A, 3, t_B, 5, 0.0f, t_C, 7);\n"
                                 "  LAYER_DONE(layer_product);\n"
                                 "}\n"));
  const ToolRun run = run_stowage({"run", "plan", "--check"});
  INFO(run.err << run.out);
  CHECK(run.code == 0);
  // Against a header with the vendor's signature.
  EmittedProgram program;
  for (const auto& [path, contents] : files_below("plan/src")) {
    if (path.ends_with(".c") || path.ends_with(".h")) program.files.push_back({path, contents, {}});
  }
  CHECK(complaints_of_vendor_headers({&program}) == "");
  for (EmittedFile& file : program.files) {
    const std::size_t at = file.text.find("1.0f, t_A");
    if (at != std::string::npos) file.text.replace(at, 9, "t_A, 1.0f");
  }
  CHECK(complaints_of_vendor_headers({&program}).find("layers_library.c") != std::string::npos);
}

TEST_CASE("a library computes convolutions of one point, and parts of a tensor") {
  const Workplace here;
  ModelWriter model("parts", 17, "a convolution of one point, and two products side by side");
  model.add_input("x", ElementType::f32, Shape{1, 16, 6, 5});
  model.add_input("w", ElementType::f32, Shape{24, 16, 1, 1});
  model.add_input("A", ElementType::f32, Shape{5, 3});
  model.add_input("B", ElementType::f32, Shape{3, 7});
  model.add_input("D", ElementType::f32, Shape{3, 4});
  model.add_node("Conv", "point", {"x", "w"}, {"y"});
  model.add_node("MatMul", "left", {"A", "B"}, {"l"});
  model.add_node("MatMul", "right", {"A", "D"}, {"r"});
  model.add_node("Concat", "beside", {"l", "r"}, {"C"}, {{"axis", std::int64_t{1}}});
  model.add_output("y", ElementType::f32, Shape{1, 24, 6, 5});
  model.add_output("C", ElementType::f32, Shape{5, 11});
  Diagnostics diagnostics;
  REQUIRE(model.save("parts.onnx", diagnostics));
  // Without a call's own time and the spawn behind it the library takes least.
  const std::string text =
      source_of(run_stowage({"compile", "parts.onnx", "-o", "plan", "--fusion", "none", "--planner", "swtvm",
                             "--library", "xmath", "--set", "target.library.xmath.call_seconds=0", "--set",
                             "target.library.xmath.efficiency=[{extent=1,share=1}]"}),
                "plan");
  CHECK_THAT(text, Catch::Contains("24, 30, 16, 1.0f, t_w, 16, t_x, 30, 0.0f, t_y, 30);") &&
                       Catch::Contains("5, 7, 3, 1.0f, t_A, 3, t_B, 7, 0.0f, t_l, 11);") &&
                       Catch::Contains("5, 4, 3, 1.0f, t_A, 3, t_D, 4, 0.0f, t_r, 11);"));
  const ToolRun run = run_stowage({"run", "plan", "--check"});
  INFO(run.err << run.out);
  CHECK(run.code == 0);
}

TEST_CASE("results of a batch say which library a job may call") {
  const Workplace here;
  write_products();
  write_text("batch.toml",
             "[[job]]\nname = \"with\"\nmodel = \"products.onnx\"\nfusion = \"none\"\nplanner = \"swtvm\"\nlibrary = "
             "\"xmath\"\n"
             "[[job]]\nname = \"without\"\nmodel = \"products.onnx\"\nfusion = \"none\"\nplanner = \"swtvm\"\n");
  const ToolRun listed = run_stowage({"batch", "batch.toml", "--dry-run", "--json"});
  INFO(listed.err);
  const auto jobs = nlohmann::json::parse(listed.out);
  CHECK(jobs.at(0).at("library") == "xmath");
  CHECK_FALSE(jobs.at(1).contains("library"));
  const ToolRun first = run_stowage({"batch", "batch.toml", "-o", "first"});
  INFO(first.err << first.out);
  REQUIRE(first.code == 0);
  CHECK(read_text("first/results.jsonl").find("\"library\":\"xmath\"") != std::string::npos);
  write_text("batch.toml",
             "[[job]]\nname = \"with\"\nmodel = \"products.onnx\"\nfusion = \"none\"\nplanner = \"swtvm\"\n");
  const ToolRun second = run_stowage({"batch", "batch.toml", "-o", "second", "--baseline", "first/results.jsonl"});
  INFO(second.err << second.out);
  CHECK((second.err + second.out).find("library none instead of xmath") != std::string::npos);
}

TEST_CASE("nobody's library is called unless one is asked for, and one that there is") {
  const Workplace here;
  write_products();
  const auto compiled = [](std::vector<std::string> more) {
    return run_stowage(command({"compile", "products.onnx", "--fusion", "none", "--json"}, more));
  };
  CHECK(compiled(fast_library).out.find("library_steps") == std::string::npos);
  const ToolRun unknown = compiled({"--library", "xmaht"});
  CHECK(unknown.code != 0);
  CHECK(unknown.err.find("no library 'xmaht' [unknown-library]") != std::string::npos);
  CHECK(unknown.err.find("xmath") != std::string::npos);

  const auto refused = [&](const std::string& setting, const std::string& code) {
    INFO(setting);
    const ToolRun run = compiled({"--set", "target." + setting});
    INFO(run.err);
    CHECK(run.code != 0);
    CHECK(run.err.find("[" + code + "]") != std::string::npos);
  };
  refused("use_library=\"xmaht\"", "unknown-library");
  refused("library.xmath.header=\"a\\nb\"", "wrong-name");
  refused("library.xmath.sgemm=\"1x\"", "wrong-name");
  refused("library.xmath.link=\"$(rm)\"", "wrong-name");
  refused("library.xmath.call_seconds=-1", "out-of-range");
  refused("library.xmath.efficiency=[]", "out-of-range");
  refused("library.xmath.efficiency=[{extent=1,share=2}]", "out-of-range");
  refused("library.xmath.efficiency=[{extent=4,share=0.5},{extent=4,share=0.6}]", "not-ascending");
  refused("library.xmath.dgemm=\"x\"", "unknown-key");
  refused("library.other.header=\"other.h\"", "missing-key");
  write_text("batch.toml",
             "[[job]]\nname = \"one\"\nmodel = \"products.onnx\"\nfusion = \"none\"\nlibrary = \"xmaht\"\n");
  const ToolRun batch = run_stowage({"batch", "batch.toml", "-o", "batch"});
  INFO(batch.err << batch.out);
  CHECK((batch.err + batch.out).find("xmaht") != std::string::npos);
}

TEST_CASE("a call of a library that does not fit its operator or its target is damage") {
  const Workplace here;
  write_products();
  REQUIRE(run_stowage(command({"compile", "products.onnx", "-o", "products", "--fusion", "none", "--library", "xmath"},
                              fast_library))
              .code == 0);
  auto plan = nlohmann::json::parse(read_text("products/plan.json"));
  std::string complaint;
  const auto step = [&](const std::string& name) -> nlohmann::json& {
    return *std::find_if(plan.at("steps").begin(), plan.at("steps").end(),
                         [&](const nlohmann::json& row) { return row.at("name") == name; });
  };
  SECTION("another call") {
    step("large").at("nest").push_back("more");
    complaint = "is not that of its operator";
  }
  SECTION("another library") {
    step("large").at("schedule").at("library").at("name") = "other";
    complaint = "is given to library 'other', which its target does not use";
  }
  SECTION("no product") {
    step("biased")["kind"] = "library";
    step("biased").at("schedule") = step("large").at("schedule");
    complaint = "is given to a library, but it has 2 stages";
  }
  write_text("products/plan.json", plan.dump(1));
  const ToolRun explained = run_stowage({"explain", "products"});
  CHECK(explained.code != 0);
  INFO(explained.err);
  CHECK(explained.err.find(complaint) != std::string::npos);
}

}  // namespace stowage::test
