// SPDX-License-Identifier: Apache-2.0
// Exit code 3 is for faults of ours: what is too large or too slow, or does not fit memory, is a diagnostic.
#include <sys/resource.h>

#include <fstream>

#include <cstdlib>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/onnx/model_writer.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

void write_relu(const std::string& path, const Shape& shape) {
  ModelWriter model("agraph", 13, "a test");
  model.add_input("x", ElementType::f32, shape);
  model.add_output("y", ElementType::f32, shape);
  model.add_node("Relu", "relu", {"x"}, {"y"});
  Diagnostics diagnostics;
  REQUIRE(model.save(path, diagnostics));
}

/// What a failed command says; the reason and the remedy must be there.
std::string complaint(const std::vector<std::string>& arguments) {
  const ToolRun run = run_stowage(arguments);
  INFO(run.err);
  CHECK(run.code == 1);
  CHECK(run.err.find("\n  help: ") != std::string::npos);
  return run.err;
}

TEST_CASE("tensors that are too large are refused by their size") {
  const Workplace here;
  for (const Shape& shape : {Shape{(std::int64_t{1} << 30) + 1}, Shape{std::int64_t{1} << 31},
                             Shape{std::int64_t{1} << 37}, Shape{1 << 16, 1 << 16}, Shape{std::int64_t{1} << 62}}) {
    write_relu("large.onnx", shape);
    const std::string text = complaint({"compile", "large.onnx"});
    CHECK(text.find("large.onnx: error: input x: its shape " + to_text(shape) +
                    " has more than 1 073 741 824 elements [tensor-too-large]") == 0);
  }
}

TEST_CASE("text that has no end is refused, and what a file includes is a file") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "matmul", "-o", "matmul.onnx"}).code == 0);
  CHECK_THAT(complaint({"compile", "matmul.onnx", "--schedule", "/dev/zero"}),
             Catch::Contains("/dev/zero: error: ") && Catch::Contains("[file-too-large]"));
  REQUIRE(std::system("mkfifo pipe") == 0);
  for (const std::string file : {"/dev/zero", "pipe", "."}) {
    write_text("jobs.toml", "include = [\"" + file + "\"]\n");
    INFO(file);
    CHECK_THAT(complaint({"batch", "jobs.toml"}), Catch::Contains("is no file [unreadable-file]"));
  }
}

TEST_CASE("plans that fill the LDM to its last byte, and slots that lie apart, are built with and without red zones") {
  const Workplace here;
  write_relu("relu.onnx", {1, 8});
  write_text("whole.toml", "[schedule.relu]\nparallel = []\nbuffer = { i0 = 1, i1 = 8 }\n");
  const std::vector<std::string> small = {
      "--planner", "swtvm", "--set", "target.cores.count=1", "--set", "target.ldm.reserved=0"};
  std::vector<std::string> whole = {"compile", "relu.onnx", "-o", "whole", "--schedule", "whole.toml"};
  whole.insert(whole.end(), small.begin(), small.end());
  whole.insert(whole.end(), {"--set", "target.ldm.bytes=96"});
  REQUIRE(run_stowage(whole).code == 0);
  CHECK_THAT(read_text("whole/src/sw_rt.h"),
             Catch::Contains("#define SW_LDM_BYTES 96") && Catch::Contains("#define SW_ARENA_BYTES 96"));
  // Boxes of 12 bytes, so that the second slot begins 20 bytes behind the first one's end.
  write_text("slots.toml", "[schedule.relu]\nparallel = []\nbuffer = { i0 = 1, i1 = 3 }\nslots = { x = 2, y = 2 }\n");
  std::vector<std::string> slots = {"compile", "relu.onnx", "-o", "slots", "--schedule", "slots.toml"};
  slots.insert(slots.end(), small.begin(), small.end());
  REQUIRE(run_stowage(slots).code == 0);
  for (const std::string folder : {"whole", "slots"}) {
    for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--sanitize"}}) {
      std::vector<std::string> run = {"run", folder, "--check", "--level", "strict"};
      run.insert(run.end(), more.begin(), more.end());
      const ToolRun checked = run_stowage(run);
      INFO(folder << ": " << checked.err);
      CHECK(checked.code == 0);
    }
  }
}

TEST_CASE("the largest tensor is planned without gigabytes of memory") {
  const Workplace here;
  write_relu("large.onnx", {std::int64_t{1} << 30});
  CHECK(run_stowage({"compile", "large.onnx"}).code == 0);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  CHECK(usage.ru_maxrss < 2'000'000);  // KiB
}

TEST_CASE("a plan of too many parts to be checked is refused") {
  const Workplace here;
  write_relu("large.onnx", {std::int64_t{1} << 30});
  const std::string text = complaint({"compile", "large.onnx", "--planner", "swtvm", "--set", "target.ldm.bytes=128",
                                      "--set", "target.ldm.reserved=0"});
  CHECK(text.find("fused operator relu: its plan is too large to be shown sound: ") != std::string::npos);
  CHECK(text.find("[plan-too-large]") != std::string::npos);
}

TEST_CASE("a target so slow that cycles cannot be counted is refused") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  for (const std::vector<std::string>& settings :
       {std::vector<std::string>{"dma.bandwidth=[{ block_bytes = 128, bytes_per_second = 1 }]"},
        {"cores.vector_flops_per_cycle=0.001", "cores.scalar_flops_per_cycle=0.001", "clock_hz=1e12",
         "dma.startup_cycles=1e9", "dma.bandwidth=[{ block_bytes = 1073741824, bytes_per_second = 1 }]"}}) {
    std::vector<std::string> arguments = {"compile", "lenet.onnx"};
    for (const std::string& setting : settings) {
      arguments.emplace_back("--set");
      arguments.push_back("target." + setting);
    }
    const std::string text = complaint(arguments);
    CHECK(text.find("fused operator conv1: would take ") != std::string::npos);
    CHECK(text.find("[too-many-cycles]\n  help: give the target's clock_hz, ") != std::string::npos);
  }
}

TEST_CASE("of a hundred thousand mistakes a hundred are shown, and the rest is counted") {
  const Workplace here;
  ModelWriter model("agraph", 13, "a test");
  model.add_input("x", ElementType::f32, Shape{2});
  model.add_output("y", ElementType::f32, Shape{2});
  model.add_node("Relu", "good", {"x"}, {"y"});
  for (int i = 0; i < 100'000; ++i) {
    model.add_node("Relu", "bad" + std::to_string(i), {"nothing" + std::to_string(i)}, {"z" + std::to_string(i)});
  }
  Diagnostics diagnostics;
  REQUIRE(model.save("bad.onnx", diagnostics));
  const std::string text = complaint({"compile", "bad.onnx"});
  CHECK(text.size() < 50'000);
  CHECK(text.find("error: and 99 900 more errors [more-diagnostics]\n") != std::string::npos);
  const ToolRun json = run_stowage({"compile", "bad.onnx", "--json"});
  CHECK(json.code == 1);
  CHECK(json.out.size() < 50'000);
  const auto rows = nlohmann::json::parse(json.out).at("diagnostics");
  CHECK(rows.size() == 101);
  CHECK(rows.back().at("message") == "and 99 900 more errors");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// An address space that has little left while it lives.
class MemoryLimit {
 public:
  explicit MemoryLimit(rlim_t more) {
    ::getrlimit(RLIMIT_AS, &before_);
    std::ifstream statm("/proc/self/statm");
    rlim_t pages = 0;
    statm >> pages;
    rlimit limit = before_;
    limit.rlim_cur = pages * 4096 + more;
    ::setrlimit(RLIMIT_AS, &limit);
  }
  ~MemoryLimit() { ::setrlimit(RLIMIT_AS, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

TEST_CASE("memory that runs out is a diagnostic of the command and of the job") {
  const Workplace here;
  write_relu("long.onnx", {std::int64_t{1} << 30});
  write_text("jobs.toml",
             "[[job]]\nname = \"long\"\nmodel = \"long.onnx\"\nplanner = \"swtvm\"\n"
             "[job.set]\n\"target.ldm.bytes\" = 8192\n");
  const MemoryLimit limit(rlim_t{24} << 20);
  const std::vector<std::string> compile = {"compile",   "long.onnx", "-j",    "1",
                                            "--planner", "swtvm",     "--set", "target.ldm.bytes=8192"};
  CHECK(complaint(compile).find("long.onnx: error: this needs more memory than there is [out-of-memory]") == 0);
  CHECK(complaint({"batch", "jobs.toml"}).find("error: this needs more memory than there is [out-of-memory]") !=
        std::string::npos);
}
#endif

}  // namespace
}  // namespace stowage::test
