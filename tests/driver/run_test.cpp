// SPDX-License-Identifier: Apache-2.0
// `stowage run` and `stowage explain`: a compiled folder is read back, emulated and held against the reference.
#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/npy.h"
#include "driver/run/check_run.h"
#include "lowering/program/planners.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

void compile_network(const std::string& name, const std::vector<std::string>& further = {}) {
  REQUIRE(run_stowage({"network", name, "-o", name + ".onnx"}).code == 0);
  std::vector<std::string> arguments = {"compile", name + ".onnx", "-o", name};
  arguments.insert(arguments.end(), further.begin(), further.end());
  const ToolRun run = run_stowage(arguments);
  INFO(run.err);
  REQUIRE(run.code == 0);
}

void replace_in_file(const fs::path& path, const std::string& what, const std::string& by) {
  std::string text = read_text(path);
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  write_text(path, text.replace(at, what.size(), by));
}

TEST_CASE("lenet agrees with the reference in every fused operator, and its counts with the plan") {
  const Workplace here;
  compile_network("lenet");
  fs::remove("lenet.onnx");  // a compiled folder needs its model no more
  const ToolRun run = run_stowage({"run", "lenet", "--check", "--json"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const auto json = nlohmann::json::parse(run.out);
  CHECK(json.at("agrees") == true);
  CHECK(json.at("against_model") == false);
  CHECK(json.at("first_difference").is_null());
  CHECK(json.at("fused_operators").size() == 7);
  CHECK(json.at("outputs").size() == 1);
  CHECK(json.at("count_differences").empty());
  for (const auto& row : json.at("fused_operators")) {
    INFO(row.dump());
    CHECK(row.at("scaled_error").get<double>() <= 1e-4);
    CHECK(row.at("nans") == 0);
  }
  const auto compiled = nlohmann::json::parse(read_text("lenet/plan.json")).at("totals");
  for (const char* key : {"dma_transfers", "dma_operations", "dma_bytes", "ldm_peak_bytes"}) {
    INFO(key);
    CHECK(json.at(key) == compiled.at(key));
  }
}

TEST_CASE("what compiles for a target with a gigabyte of LDM runs") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "vector", "-o", "vector.onnx"}).code == 0);
  for (const std::string& planner : planner_names()) {
    for (const std::string bytes : {"1000000000", "1073741824"}) {
      INFO(planner << " " << bytes);
      const std::string plan = planner + bytes;
      const ToolRun made = run_stowage(
          {"compile", "vector.onnx", "--planner", planner, "--set", "target.ldm.bytes=" + bytes, "-o", plan});
      INFO(made.err);
      REQUIRE(made.code == 0);
      const ToolRun run = run_stowage({"run", plan, "--check"});
      INFO(run.err);
      CHECK(run.code == 0);
    }
  }
  // More cannot be asked for.
  const ToolRun more = run_stowage({"compile", "vector.onnx", "--set", "target.ldm.bytes=1073741825"});
  CHECK(more.code == 2);
  CHECK(more.err.find("'ldm.bytes' is 1073741825, but lies between 64 and 1073741824") != std::string::npos);
}

TEST_CASE("run prints tables, inputs that were made up, and the verdict") {
  const Workplace here;
  compile_network("vector");
  const ToolRun run = run_stowage({"run", "vector", "--check"});
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(run.out == golden("run-vector.txt", run.out));
}

TEST_CASE("one fused operator runs alone on the reference's values") {
  const Workplace here;
  compile_network("lenet");
  const ToolRun run = run_stowage({"run", "lenet", "--op", "pool2", "--check", "--json"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const auto json = nlohmann::json::parse(run.out);
  REQUIRE(json.at("fused_operators").size() == 1);
  CHECK(json.at("fused_operators")[0].at("name") == "pool2");
  CHECK(json.at("agrees") == true);
  const ToolRun unknown = run_stowage({"run", "lenet", "--op", "conv3"});
  CHECK(unknown.code == 1);
  CHECK(unknown.err.find("no fused operator 'conv3' [unknown-fused-operator]") != std::string::npos);
}

TEST_CASE("inputs come from files and outputs go to files") {
  const Workplace here;
  compile_network("vector");
  Diagnostics diagnostics;
  std::vector<float> values(1024);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  REQUIRE(write_npy("v1.npy", Tensor::of_floats({1024}, values), diagnostics));
  REQUIRE(write_npy("short.npy", Tensor::of_floats({2}, std::vector<float>{1, 2}), diagnostics));
  const ToolRun run =
      run_stowage({"run", "vector", "--input", "v1=v1.npy", "--input", "v2=v1.npy", "--save-outputs", "out"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const auto output = read_npy("out/v.npy", diagnostics);
  REQUIRE(output);
  REQUIRE(output->shape() == Shape{1024});
  for (std::int64_t i = 0; i < 1024; ++i) CHECK(output->as_double(i) == static_cast<double>(i * i));

  const ToolRun wrong = run_stowage({"run", "vector", "--input", "v1=short.npy", "--input", "w=v1.npy"});
  CHECK(wrong.code == 1);
  CHECK(wrong.err ==
        "--input w=v1.npy: error: the network has no input 'w' [unknown-input]\n  help: known are: v1, v2\n"
        "short.npy: error: holds f32[2], but input 'v1' is f32[1024] [wrong-input]\n");
  CHECK(run_stowage({"run", "vector", "--save-outputs", "out"}).code == 1);  // exists
}

/// The file of the network vector's only kernel.
fs::path vector_kernel() {
  fs::path kernel;
  for (const auto& entry : fs::directory_iterator("vector/src")) {
    if (entry.path().filename().string().starts_with("vector_")) kernel = entry.path();
  }
  REQUIRE_FALSE(kernel.empty());
  return kernel;
}

TEST_CASE("sources changed by hand are used, said, and their difference found") {
  const Workplace here;
  compile_network("vector");
  const fs::path kernel = vector_kernel();
  replace_in_file(kernel, "] * ldm->", "] + ldm->");
  replace_in_file(kernel, "const int core =", "/* mine */\n  const int core =");
  const ToolRun run = run_stowage({"run", "vector", "--check", "--changed-sources"});
  CHECK(run.code == 1);
  INFO(run.out);
  CHECK(run.err.find(kernel.string() + ": warning: differs from what was emitted") == 0);
  CHECK(run.out.find("the first that differs from the reference is 'vector' (tensor v)") != std::string::npos);
  CHECK(run.out.find("DIFFERS") != std::string::npos);
  // Counts still find their statements, although lines moved.
  CHECK(run.out.find("emulated ones, statement by statement") != std::string::npos);
}

TEST_CASE("a barrier that was put in by hand is in the counts, wherever it stands") {
  const Workplace here;
  compile_network("lenet");
  fs::path kernel;
  for (const auto& entry : fs::directory_iterator("lenet/src")) {
    if (entry.path().filename().string().starts_with("conv2_")) kernel = entry.path();
  }
  REQUIRE_FALSE(kernel.empty());
  const std::string before = read_text(kernel);
  const std::size_t begin = before.find("athread_syn(");
  const std::string barrier = before.substr(begin, before.find(';', begin) + 1 - begin);
  for (const std::string between : {" ", "\n"}) {
    std::string text = before;
    text.insert(begin + barrier.size(), between + barrier);
    write_text(kernel, text);
    const ToolRun run = run_stowage({"run", "lenet", "--check", "--changed-sources"});
    INFO(run.out);
    CHECK(run.code == 1);
    CHECK(run.out.find("prediction and emulation differ") != std::string::npos);
    CHECK(run.out.find("| barriers |") != std::string::npos);
    CHECK(run.out.find("statement by statement") == std::string::npos);
  }
}

TEST_CASE("DMA that was put by hand into the line of another statement is named with its line") {
  const Workplace here;
  compile_network("vector");
  const fs::path kernel = vector_kernel();
  // The line of the computation stays as it is, and loads.
  replace_in_file(kernel, "\nstruct ",
                  "\n#define for ldm->reply_v1 = 0; athread_get(PE_MODE, t_v1, ldm->t_v1_ldm, 4, "
                  "(void *)&ldm->reply_v1, 0, 0, 0); dma_wait(&ldm->reply_v1, 1); for\nstruct ");
  for (const std::string level : {"count", "check"}) {
    const ToolRun run = run_stowage({"run", "vector", "--changed-sources", "--level", level});
    INFO(run.err);
    CHECK(run.code == 1);
    CHECK(run.err.find("internal") == std::string::npos);
    const std::string text = read_text(kernel);
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("  for (")), '\n');
    CHECK(run.err.find(kernel.filename().string() + ":" + std::to_string(line) +
                       ": error: DMA in the line of a statement that transfers nothing") != std::string::npos);
    CHECK(run.err.find("[emulation-misplaced-dma]") != std::string::npos);
    CHECK(run.err.find("help: put its calls and its wait into lines of their own") != std::string::npos);
  }
}

TEST_CASE("the sanitizer finds a read before its wait in a source that was edited, with its line") {
  const Workplace here;
  compile_network("vector");
  CHECK(run_stowage({"run", "vector", "--sanitize", "--check"}).code == 0);
  const fs::path kernel = vector_kernel();
  // The wait for v1 comes after the loop that reads it.
  replace_in_file(kernel, "  dma_wait(&ldm->reply_v1, 1);\n", "");
  replace_in_file(kernel, "  dma_wait(&ldm->reply_v, 1);\n",
                  "  dma_wait(&ldm->reply_v, 1);\n  dma_wait(&ldm->reply_v1, 1);\n");
  const ToolRun run = run_stowage({"run", "vector", "--sanitize", "--changed-sources"});
  CHECK(run.code == 1);
  INFO(run.err);
  CHECK(run.err.find(kernel.filename().string() + ":") != std::string::npos);
  CHECK(run.err.find("ldm->t_v1_ldm[") != std::string::npos);
}

TEST_CASE("damaged folders are refused by name of the file") {
  const Workplace here;
  compile_network("lenet");
  const auto complaint = [](const fs::path& file, const std::string& what, const std::string& by) {
    const std::string before = read_text(file);
    replace_in_file(file, what, by);
    const ToolRun run = run_stowage({"run", "lenet"});
    CHECK(run.code == 1);
    write_text(file, before);
    return run.err;
  };
  CHECK(complaint("lenet/plan.json", "stowage-plan", "something-else").find("it is not a plan file of Stowage") !=
        std::string::npos);
  CHECK(complaint("lenet/plan.json", "\"version\": 2", "\"version\": 99").find("this tool reads versions 1 to 2") !=
        std::string::npos);
  CHECK(complaint("lenet/plan.json", "\"steps\"", "\"stops\"") ==
        "lenet/plan.json: error: 'steps' is missing: another version wrote it, or it was edited [damaged-plan]\n"
        "  help: compile the model again\n");
  CHECK(complaint("lenet/plan.json", "{", "").find("error: it is not JSON, or was cut short (byte ") !=
        std::string::npos);
  CHECK(complaint("lenet/plan.json", "\"network\": \"lenet\"", "\"network\": 7")
            .find("error: an entry is of another type than this version writes") != std::string::npos);
  CHECK(complaint("lenet/trace.json", "stowage-trace", "x").find("lenet/trace.json: error: it is not a trace file") ==
        0);
  // Another version, whose records are of another form.
  CHECK(complaint("lenet/trace.json", "\"version\": 4, \"groups\": [\n{\"name\"",
                  "\"version\": 99, \"groups\": [\n{\"way\"")
            .find("its version is 99, this tool reads versions 2 to 4") != std::string::npos);
  CHECK(complaint("lenet/trace.json", "\"version\": 4, \"groups\"", "\"version\": 99, \"words\"")
            .find("its version is 99, this tool reads versions 2 to 4") != std::string::npos);
  for (const std::string key : {"records", "candidates", "subject"}) {
    CHECK(complaint("lenet/trace.json", "\"" + key + "\"", "\"other\"").find("error: '" + key + "' is missing") !=
          std::string::npos);
  }
  CHECK(complaint("lenet/trace.json", "\"fate\"", "fate\"").find("error: it is not JSON, or was cut short (byte ") !=
        std::string::npos);

  const std::string parameters = read_text("lenet/src/params.bin");
  write_text("lenet/src/params.bin", parameters.substr(0, parameters.size() / 2));
  const ToolRun cut = run_stowage({"run", "lenet"});
  CHECK(cut.code == 1);
  CHECK(cut.err.find("too few for the plan's parameters [damaged-plan]") != std::string::npos);
  std::string changed = parameters;
  changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
  write_text("lenet/src/params.bin", changed);
  const ToolRun other = run_stowage({"run", "lenet"});
  CHECK(other.code == 1);
  CHECK(other.err.find("[damaged-plan]") != std::string::npos);

  CHECK(run_stowage({"run", "nowhere"}).err.find("nowhere/plan.json: error: cannot be read") == 0);
}

TEST_CASE("explain tells the papers' matmul as the papers do") {
  const Workplace here;
  compile_network("matmul", {"--planner", "swtvm", "--set", "target.cores.count=1"});
  const ToolRun run = run_stowage({"explain", "matmul", "--op", "matmul", "--steps"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(run.out == golden("explain-matmul.txt", run.out));
  // The known answers, whatever else changes.
  for (const char* answer :
       {"x num, y size, k comp", "y=64, k=64 takes 16.5 KiB", "y=128, k=64 takes 32.75 KiB",
        "y=128, k=128 needs 65 KiB, only 58 KiB: refused", "384 transfers", "272 transfers", "264 transfers",
        "loop order: x, yo, ko", "load of A goes inside ko", "load of B goes inside ko", "of C go inside yo"}) {
    INFO(answer);
    CHECK(run.out.find(answer) != std::string::npos);
  }
  const ToolRun unknown = run_stowage({"explain", "matmul", "--op", "matmull"});
  CHECK(unknown.code == 1);
  CHECK(unknown.err.find("did you mean 'matmul'?") != std::string::npos);
}

TEST_CASE("values are compared by magnitude, with NaN and infinities in their places, and integers exactly") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const auto compare = [](std::vector<float> a, std::vector<float> b) {
    const auto size = static_cast<std::int64_t>(a.size());
    return compare_values(Tensor::of_floats({size}, a), Tensor::of_floats({size}, b), 1e-4);
  };
  CHECK(compare({100, 0.009F}, {100, 0}).agrees);  // small beside the tensor's largest
  CHECK_FALSE(compare({100, 0.02F}, {100, 0}).agrees);
  CHECK(compare({nan, inf, 1}, {nan, inf, 1}).agrees);
  CHECK_FALSE(compare({nan, 1}, {1, 1}).agrees);
  CHECK_FALSE(compare({1, 1}, {nan, 1}).agrees);
  CHECK_FALSE(compare({-inf, 1}, {inf, 1}).agrees);
  CHECK(compare({nan, inf, 1}, {1, 1, 1}).nans == 1);
  CHECK(compare({0, 0}, {0, 0}).agrees);
  CHECK_FALSE(compare({1e-30F, 0}, {0, 0}).agrees);
  const auto integers = [](std::vector<std::int64_t> a, std::vector<std::int64_t> b) {
    const auto size = static_cast<std::int64_t>(a.size());
    return compare_values(Tensor::of_int64s({size}, a), Tensor::of_int64s({size}, b), 1e-4).agrees;
  };
  CHECK(integers({1, 1'000'000}, {1, 1'000'000}));
  CHECK_FALSE(integers({1, 1'000'000}, {1, 1'000'001}));
  // Next to each other beyond what a double can tell apart.
  CHECK_FALSE(integers({(std::int64_t{1} << 60) + 1}, {std::int64_t{1} << 60}));
}

}  // namespace
}  // namespace stowage::test
