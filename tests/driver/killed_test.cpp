// SPDX-License-Identifier: Apache-2.0
// Processes that are killed while they write, and two that write to one place: nothing is mixed, lost, or left behind.
#include <chrono>
#include <csignal>
#include <filesystem>

#include <catch2/catch.hpp>

#include "tests/driver/tool_process.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

using Arguments = std::vector<std::string>;

/// Kills the command at moments spread over the time that it takes when it is left alone; `between` looks around.
template <class Between>
void kill_at_moments(const Arguments& command, const Between& between) {
  constexpr int moments = 10;
  const auto begun = std::chrono::steady_clock::now();
  REQUIRE(wait_for(start(command)) == 0);
  const std::chrono::duration<double, std::milli> whole = std::chrono::steady_clock::now() - begun;
  between();
  for (int moment = 1; moment <= moments; ++moment) {
    const int milliseconds = static_cast<int>(whole.count() * moment / moments);
    INFO(command[0] << " killed after " << milliseconds << " ms");
    const pid_t child = start(command);
    sleep_milliseconds(milliseconds);
    ::kill(child, SIGKILL);
    wait_for(child);
    between();
  }
}

TEST_CASE("of two processes that write to one place without force one fails and says why") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "resnet18", "-o", "model.onnx"}).code == 0);
  for (const Arguments& command :
       std::vector<Arguments>{{"network", "resnet50", "-o", "made"}, {"compile", "model.onnx", "-o", "made"}}) {
    const pid_t one = start(command, "one-");
    const pid_t two = start(command, "two-");
    const int code_of_one = wait_for(one);
    const int code_of_two = wait_for(two);
    INFO(command[0] << ": " << read_text("one-err.txt") << read_text("two-err.txt"));
    CHECK(code_of_one + code_of_two == 1);
    CHECK(read_text(code_of_one == 1 ? "one-err.txt" : "two-err.txt").find("[output-exists]") != std::string::npos);
    CHECK(entries() == std::vector<std::string>{"made", "model.onnx"});
    fs::remove_all("made");
  }
}

TEST_CASE("two processes that write one file do not mix their bytes") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "resnet18", "--seed", "1", "-o", "1.onnx"}).code == 0);
  REQUIRE(run_stowage({"network", "resnet18", "--seed", "2", "-o", "2.onnx"}).code == 0);
  const std::string first = read_text("1.onnx");
  const std::string second = read_text("2.onnx");
  for (int i = 0; i < 5; ++i) {
    const pid_t one = start({"network", "resnet18", "--seed", "1", "-o", "made", "--force"}, "one-");
    const pid_t two = start({"network", "resnet18", "--seed", "2", "-o", "made", "--force"}, "two-");
    CHECK(wait_for(one) == 0);
    CHECK(wait_for(two) == 0);
    const std::string made = read_text("made");
    CHECK((made == first || made == second));
  }
}

TEST_CASE("a file of the user named like what is in the making stays, and no link is followed") {
  const Workplace here;
  write_text("x.onnx.partial", "precious");
  CHECK(run_stowage({"network", "lenet", "-o", "x.onnx"}).code == 0);
  CHECK(read_text("x.onnx.partial") == "precious");
  write_text("notes", "precious");
  fs::create_symlink("notes", "y.onnx.partial");
  CHECK(run_stowage({"network", "lenet", "-o", "y.onnx"}).code == 0);
  CHECK(read_text("notes") == "precious");
  CHECK(fs::is_symlink("y.onnx.partial"));
  // Nor is what only looks like a temporary of ours removed, or one at the wanted place followed.
  write_text(".z.onnx.stowage-mine", "precious");
  fs::create_symlink("notes", "z.onnx");
  CHECK(run_stowage({"network", "lenet", "-o", "z.onnx"}).code == 1);
  CHECK(run_stowage({"network", "lenet", "-o", "z.onnx", "--force"}).code == 0);
  CHECK(read_text("notes") == "precious");
  CHECK(read_text(".z.onnx.stowage-mine") == "precious");
  CHECK(entries() ==
        Arguments{".z.onnx.stowage-mine", "notes", "x.onnx", "x.onnx.partial", "y.onnx", "y.onnx.partial", "z.onnx"});
}

TEST_CASE("what a killed network command left is hidden, and the next one removes it") {
  const Workplace here;
  bool left = false;
  kill_at_moments({"network", "resnet50", "-o", "made"}, [&] {
    for (const std::string& name : entries()) {
      CHECK((name == "made" || name.starts_with('.')));
      left = left || name.starts_with('.');
    }
    fs::remove("made");
  });
  CHECK(left);
  CHECK(run_stowage({"network", "lenet", "-o", "made"}).code == 0);
  CHECK(entries() == Arguments{"made"});
}

TEST_CASE("what a killed compile command left is hidden, and the next one removes it") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "resnet18", "-o", "model.onnx"}).code == 0);
  const Arguments command = {"compile", "model.onnx", "--planner", "swtvm", "--fusion", "none", "-o", "made"};
  REQUIRE(run_stowage(command).code == 0);
  const auto whole = files_below("made");
  // With --force: the old folder or the new one stands there at every moment, whole.
  Arguments forced = command;
  forced.emplace_back("--force");
  kill_at_moments(forced, [&] { CHECK((files_below("made") == whole)); });
  fs::remove_all("made");
  kill_at_moments(command, [&] {
    for (const std::string& name : entries()) {
      CHECK((name == "made" || name == "model.onnx" || name.starts_with('.')));
    }
    if (fs::exists("made")) CHECK((files_below("made") == whole));
    fs::remove_all("made");
  });
  REQUIRE(run_stowage({"network", "vector", "-o", "vector.onnx"}).code == 0);
  CHECK(run_stowage({"compile", "vector.onnx", "-o", "made"}).code == 0);
  CHECK(entries() == Arguments{"made", "model.onnx", "vector.onnx"});
}

}  // namespace
}  // namespace stowage::test
