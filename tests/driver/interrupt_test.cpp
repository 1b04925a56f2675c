// SPDX-License-Identifier: Apache-2.0
// The tool as a process: Ctrl-C, being killed, and silence in a pipe.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "tests/driver/tool_process.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

/// Waits until a process has taken over SIGINT; loading its libraries takes as long as it takes. False if it ended
/// before.
bool takes_interrupts(pid_t child) {
  const std::string status = "/proc/" + std::to_string(child) + "/status";
  for (;;) {
    std::ifstream lines(status);
    std::string line;
    bool listens = false;
    while (std::getline(lines, line)) {
      if (line.starts_with("State:") && line.find('Z') != std::string::npos) return false;
      if (line.starts_with("SigCgt:")) listens = (std::stoull(line.substr(7), nullptr, 16) >> (SIGINT - 1) & 1U) != 0;
    }
    if (listens) return true;
    sleep_milliseconds(1);
  }
}

// How quickly they stop is measured in tests/benchmarks/.
TEST_CASE("Ctrl-C stops every command and leaves nothing half written") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "resnet18", "-o", "resnet18.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "resnet18.onnx", "-o", "plan"}).code == 0);
  const std::vector<std::string> before = entries();
  write_text("jobs.toml",
             "[[job]]\nname = \"a\"\nmodel = \"resnet18.onnx\"\ncheck = true\n"
             "[[job]]\nname = \"b\"\nmodel = \"resnet18.onnx\"\ncheck = true\n");
  const std::vector<std::vector<std::string>> commands = {
      {"compile", "resnet18.onnx", "-o", "out"},
      {"network", "vgg16", "-o", "vgg16.onnx"},
      {"run", "plan", "--check", "--save-outputs", "out"},
      {"report", "plan", "-o", "out"},
      {"diff", "plan", "plan"},
  };
  for (const auto& command : commands) {
    for (const int milliseconds : {0, 5, 60, 300}) {
      const pid_t child = start(command);
      if (takes_interrupts(child)) sleep_milliseconds(milliseconds);
      ::kill(child, SIGINT);
      const int code = wait_for(child);
      INFO(command[0] << " after " << milliseconds << " ms: " << read_text("err.txt"));
      // It may have been done before; otherwise it was stopped, and says so.
      CHECK((code == 0 || code == 130));
      if (code == 0) {
        fs::remove_all("out");
        fs::remove("vgg16.onnx");
      }
      auto now = entries();
      now.erase(std::remove(now.begin(), now.end(), "jobs.toml"), now.end());
      CHECK(now == before);
    }
  }
  const pid_t child = start({"batch", "jobs.toml", "-j", "2", "-o", "out"});
  REQUIRE(takes_interrupts(child));
  sleep_milliseconds(300);
  ::kill(child, SIGINT);
  const int code = wait_for(child);
  INFO(read_text("err.txt"));
  CHECK(code == 130);
  // A job's folder is there whole or not at all.
  for (const std::string job : {"a", "b"}) {
    if (fs::exists("out/" + job)) CHECK(run_stowage({"explain", "out/" + job}).code == 0);
  }
}

TEST_CASE("killed while it writes, the tool leaves no output under the wanted name") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "resnet18", "-o", "resnet18.onnx"}).code == 0);
  for (int milliseconds = 20; milliseconds <= 400; milliseconds += 40) {
    const pid_t child = start({"compile", "resnet18.onnx", "-o", "out"});
    sleep_milliseconds(milliseconds);
    ::kill(child, SIGKILL);
    const int code = wait_for(child);
    INFO(milliseconds);
    if (fs::exists("out")) {
      // It was in place already, so it is whole: it runs.
      CHECK(run_stowage({"explain", "out"}).code == 0);
      if (code == 0) break;
    }
    fs::remove_all("out");
  }
}

TEST_CASE("killed while it runs, the tool leaves no process, and the next run removes its temporary folder") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "vector", "-o", "vector.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "vector.onnx", "-o", "plan"}).code == 0);
  std::ofstream("plan/src/main.c", std::ios::app)
      << "\n__attribute__((constructor)) static void endless(void) { for (volatile int i = 0;;) i = 1; }\n";
  const TemporariesIn temporaries("tmp");
  fs::create_directory("tmp/.stowage-temporary-of mine");  // no name that we give
  const pid_t child = start({"run", "plan", "--changed-sources"});
  REQUIRE(comes_true([] { return running_from("tmp") == 1; }));
  // Held by a running process it is no leftover.
  REQUIRE(run_stowage({"run", "plan", "--op", "vector"}).code == 0);
  CHECK(running_from("tmp") == 1);
  CHECK(std::distance(fs::directory_iterator("tmp"), fs::directory_iterator()) == 2);
  ::kill(child, SIGKILL);
  CHECK(wait_for(child) == -SIGKILL);
  CHECK(comes_true([] { return running_from("tmp") == 0; }));
  REQUIRE(run_stowage({"run", "plan", "--op", "vector"}).code == 0);
  CHECK(std::distance(fs::directory_iterator("tmp"), fs::directory_iterator()) == 1);
}

TEST_CASE("Ctrl-C while sources are compiled leaves nothing of the compiler's") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "lenet.onnx", "-o", "plan"}).code == 0);
  REQUIRE(run_stowage({"run", "plan"}).code == 0);  // the runtime is built
  const TemporariesIn temporaries("tmp");
  for (const int milliseconds : {20, 60, 120, 250}) {
    const pid_t child = start({"run", "plan"});
    // The compiler works as soon as there is a source.
    const bool began = comes_true([] { return !fs::is_empty("tmp"); });
    REQUIRE(began);
    sleep_milliseconds(milliseconds);
    ::kill(child, SIGINT);
    const int code = wait_for(child);
    CHECK((code == 0 || code == 130));
    INFO(milliseconds << " ms");
    CHECK(fs::is_empty("tmp"));
  }
}

TEST_CASE("in a pipe the tool is silent but for its result") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  const int code = wait_for(start({"compile", "lenet.onnx", "-o", "out", "--json"}));
  CHECK(code == 0);
  CHECK(read_text("err.txt").empty());
  CHECK(read_text("out.txt").find('\033') == std::string::npos);
}

}  // namespace
}  // namespace stowage::test
