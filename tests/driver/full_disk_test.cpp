// SPDX-License-Identifier: Apache-2.0
// A full disk, and devices in place of files: every command that writes says so, fails, and leaves nothing half made.
#include <catch2/catch.hpp>

#include "emitter/pictures/graphviz.h"
#include "emitter/process/process.h"
#include "tests/disk_limit.h"
#include "tests/driver/tool_runner.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

/// Commands that write, each to the place that is appended.
const std::vector<std::vector<std::string>>& writers() {
  static const std::vector<std::vector<std::string>> commands = {
      {"network", "lenet", "-o"}, {"compile", "model.onnx", "-o"},
      {"report", "plan", "-o"},   {"report", "plan", "--table", "operators", "-o"},
      {"graph", "plan", "-o"},    {"run", "plan", "--save-outputs"},
  };
  return commands;
}

void make_plan() {
  REQUIRE(run_stowage({"network", "lenet", "-o", "model.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "model.onnx", "-o", "plan"}).code == 0);
}

std::string place_of(const std::vector<std::string>& command) {
  return command[0] == "graph"    ? "made.dot"
         : command.size() == 5    ? "made.csv"
         : command[0] == "report" ? "made.html"
                                  : "made";
}

TEST_CASE("on a full disk every command that writes says so and leaves nothing behind") {
  const Workplace here;
  make_plan();
  const auto before = files_below(".");
  for (std::vector<std::string> command : writers()) {
    if (command[0] == "run") continue;  // emulation compiles before it writes
    command.push_back(place_of(command));
    ToolRun run;
    {
      const DiskLimit limit(100);
      run = run_stowage(command);
    }
    INFO(command[0] << ": " << run.err);
    CHECK(run.code == 1);
    CHECK(run.err.find("error: ") != std::string::npos);
    CHECK(run.err.find("written") != std::string::npos);
    CHECK(files_below(".") == before);
  }
}

TEST_CASE("what cannot be written says why, the temporary files of an emulation and of Graphviz too") {
  const Workplace here;
  make_plan();
  for (std::vector<std::string> command : std::vector<std::vector<std::string>>{{"network", "lenet", "-o", "made"},
                                                                                {"compile", "model.onnx", "-o", "made"},
                                                                                {"report", "plan", "-o", "made.html"},
                                                                                {"report", "plan", "-o", "made.csv"},
                                                                                {"graph", "plan", "-o", "made.dot"},
                                                                                {"graph", "plan", "-o", "made.svg"},
                                                                                {"run", "plan"}}) {
    if (command.back() == "made.svg" && !has_graphviz()) continue;
    ToolRun run;
    {
      const DiskLimit limit(100);
      run = run_stowage(command);
    }
    INFO(command[0] << " " << command.back() << ": " << run.err);
    CHECK(run.code == 1);
    CHECK(run.err.find("File too large") != std::string::npos);
  }
}

TEST_CASE("an output stream that takes no more is an error with its reason") {
  if (!is_character_device("/dev/full")) return;  // in a container without it
  const Workplace here;
  make_plan();
  const auto stowage = (build_folder() / "driver/stowage").string();
  for (const std::string arguments : {"explain plan", "explain plan --json", "network", "ops --json", "--help"}) {
    INFO(arguments);
    const ProcessResult run = run_process({"sh", "-c", stowage + " " + arguments + " >/dev/full"}, ".");
    CHECK(run.exit_code == 1);
    CHECK(run.output == "error: standard output cannot be written: No space left on device\n");
  }
}

TEST_CASE("outputs that cannot be saved are an error of the run") {
  const Workplace here;
  make_plan();
  write_text("file", "");
  const ToolRun run = run_stowage({"run", "plan", "--save-outputs", "file/outputs"});
  CHECK(run.code == 1);
  CHECK(run.err.find("file/outputs: error: ") != std::string::npos);
}

TEST_CASE("devices are written to and stay") {
  if (!is_character_device("/dev/full")) return;  // in a container without it
  const Workplace here;
  make_plan();
  std::filesystem::create_symlink("/dev/full", "full.dot");
  std::filesystem::create_symlink("/dev/full", "full.html");
  std::filesystem::create_symlink("/dev/full", "full.csv");
  std::filesystem::create_symlink("/dev/null", "nothing.dot");
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"graph", "plan", "-o", "full.dot"},
                                             {"report", "plan", "-o", "full.html"},
                                             {"report", "plan", "--table", "groups", "-o", "full.csv"},
                                             {"network", "lenet", "-o", "full.dot"}}) {
    const ToolRun run = run_stowage(command);
    INFO(command[0] << ": " << run.err);
    CHECK(run.code == 1);
    CHECK(run.err.find("error: ") != std::string::npos);
    CHECK(run.err.find("No space left on device") != std::string::npos);
    CHECK(std::filesystem::is_symlink(command.back()));
  }
  CHECK(run_stowage({"graph", "plan", "-o", "nothing.dot"}).code == 0);
  CHECK(is_character_device("nothing.dot"));
  CHECK(is_character_device("/dev/full"));
}

}  // namespace
}  // namespace stowage::test
