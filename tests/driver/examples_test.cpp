// SPDX-License-Identifier: Apache-2.0
// The examples of help and manual pages, run as they stand there in a folder that has what they name.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include <catch2/catch.hpp>

#include "core/npy.h"
#include "core/onnx/model_writer.h"
#include "driver/tool/command_outline.h"
#include "emitter/pictures/graphviz.h"
#include "tests/driver/tool_runner.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

/// Examples that a test has no time for.
constexpr const char* left_out[] = {
    "stowage train-cost -o sw26010.json",  // thousands of plans
    "stowage train-cost --target mine.toml --network resnet18 --network lenet --samples 500 -o mine.json",
};

/// The words of every call of stowage in the lines of some examples: "source <(stowage completions bash)" has one.
/// What a shell does with the output, or runs afterwards, is none of them.
std::vector<std::vector<std::string>> calls_in(const std::string& examples) {
  std::vector<std::vector<std::string>> calls;
  std::istringstream lines(examples);
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find("stowage ");
    if (begin == std::string::npos) continue;
    std::istringstream words(line.substr(begin, line.find_first_of("|&>)", begin) - begin));
    calls.emplace_back();
    words >> line;  // "stowage"
    for (std::string word; words >> word;) calls.back().push_back(word);
  }
  return calls;
}

std::string as_line(const std::vector<std::string>& call) {
  std::string line = "stowage";
  for (const std::string& word : call) line += " " + word;
  return line;
}

bool is_left_out(const std::string& line) {
  return std::find(std::begin(left_out), std::end(left_out), line) != std::end(left_out);
}

void run_well(const std::vector<std::string>& call) {
  const ToolRun run = run_stowage(call);
  INFO(as_line(call) << "\n" << run.err);
  CHECK(run.code == 0);
}

/// A network whose batch is open.
void write_model() {
  ModelWriter model("model", 13, "an operator of any batch");
  model.add_input("x", ElementType::f32, std::vector<std::string>{"batch", "64"});
  model.add_node("Relu", "relu", {"x"}, {"y"});
  model.add_output("y", ElementType::f32, std::vector<std::string>{"batch", "64"});
  Diagnostics diagnostics;
  REQUIRE(model.save("model.onnx", diagnostics));
}

void copy_sample(const std::string& sample, const std::string& name) {
  fs::copy_file(source_folder() / "samples" / sample, name, fs::copy_options::overwrite_existing);
}

/// What the examples of all commands read. They are of LeNet where they name it, of something small where they do not.
void prepare() {
  run_well({"network", "lenet", "-o", "lenet.onnx"});
  run_well({"network", "matmul", "-o", "matmul.onnx"});
  write_model();
  copy_sample("schedules/matmul.toml", "by-hand.toml");
  fs::create_directory_symlink(source_folder() / "samples", "samples");
  Diagnostics diagnostics;
  REQUIRE(write_npy("digit.npy", Tensor::of_floats({1, 1, 28, 28}, std::vector<float>(784, 0.5F)), diagnostics));
  std::string jobs;
  for (const char* name : {"resnet50", "b", "c", "d"}) {
    jobs += "[[job]]\nname = \"" + std::string(name) + "\"\nnetwork = \"vector\"\n";
  }
  write_text("jobs.toml", jobs);
  run_well({"batch", "jobs.toml", "-o", "monday"});
  for (const char* shard : {"2/4", "3/4", "4/4"}) run_well({"batch", "jobs.toml", "--shard", shard});
  run_well({"train-cost", "--network", "lenet", "--samples", "60", "-o", "sw26010.json"});
  run_well({"compile", "matmul.onnx", "--set", "target.cores.count=4", "--dump-passes", "four"});
  fs::copy_file("four/00_matmul/2_place-transfers.nest", "edited.nest");
  run_well({"compile", "matmul.onnx", "--set", "target.dma.alignment=8", "--dump-passes", "eight"});
  fs::copy_file("eight/00_matmul/2_place-transfers.nest", "half.nest");
  run_well({"compile", "lenet.onnx", "-o", "best", "--dump-passes", "nests"});
  run_well({"compile", "lenet.onnx", "--fusion", "none", "-o", "unfused"});
}

TEST_CASE("the examples of the overview run in their order, in a folder where nothing is") {
  const Workplace here;
  const auto calls = calls_in(outline_of_tool().examples);
  CHECK(calls.size() >= 4);
  for (const auto& call : calls) run_well(call);
}

TEST_CASE("the examples in the help of every command run") {
  std::size_t ran = 0;
  std::size_t skipped = 0;
  const Workplace here;
  prepare();
  for (const CommandRow& row : command_table()) {  // of which the first makes the folder "lenet"
    const std::string command = row.name;
    fs::remove("lenet.html");  // pages of several commands are called so
    copy_sample(command == "templates" ? "templates/gelu.toml" : "targets/small16.toml", "mine.toml");
    bool asks_itself = false;
    for (const auto& call : calls_in(row.examples)) {
      asks_itself = asks_itself || call.front() == command;
      if (is_left_out(as_line(call))) {
        ++skipped;
        continue;
      }
      if (command == "graph" && !call.back().ends_with(".dot") && !has_graphviz()) continue;
      run_well(call);
      ++ran;
    }
    INFO(command);
    CHECK(asks_itself);
  }
  CHECK(skipped == std::size(left_out));  // one that is no longer there goes
  CHECK(ran > 45);
}

}  // namespace
}  // namespace stowage::test
