// SPDX-License-Identifier: Apache-2.0
// Processes that are killed while they write or run, and two that write to one place: nothing is mixed, lost, or left
// behind.
#include <chrono>
#include <csignal>
#include <filesystem>

#include <catch2/catch.hpp>

#include "tests/driver/tool_process.h"
#include "tests/driver/tool_runner.h"
#include "tests/random_runs.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

using Arguments = std::vector<std::string>;

/// Kills the command at moments spread over the time that it takes when it is left alone; `between` looks around.
/// STOWAGE_MOMENTS says at how many.
template <class Between>
void kill_at_moments(const Arguments& command, const Between& between) {
  const auto moments = static_cast<int>(number_from("STOWAGE_MOMENTS", 10));
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

/// A plan that runs in a moment; the emulation's runtime is built.
void compile_and_run_lenet() {
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  REQUIRE(run_stowage({"compile", "lenet.onnx", "--planner", "swtvm", "-o", "plan"}).code == 0);
  REQUIRE(run_stowage({"run", "plan"}).code == 0);
}

TEST_CASE("what a killed run command left is removed by the next one, and nothing of it goes on running") {
  const Workplace here;
  compile_and_run_lenet();
  const auto plan = files_below("plan");
  const Arguments command = {"run", "plan", "--check", "--save-outputs", "out"};
  REQUIRE(run_stowage(command).code == 0);
  const auto outputs = files_below("out");
  fs::remove_all("out");
  const TemporariesIn temporaries("tmp");
  bool left = false;
  kill_at_moments(command, [&] {
    // What the compiler had started itself goes on to its end.
    CHECK(comes_true([] { return running_from("tmp") + working_in("tmp") == 0; }));
    CHECK((files_below("plan") == plan));
    for (const std::string& name : entries()) {
      CHECK((name == "lenet.onnx" || name == "out" || name == "plan" || name == "tmp" || name.starts_with(".out.")));
    }
    if (fs::exists("out")) CHECK((files_below("out") == outputs));
    fs::remove_all("out");
    // Each removes what the one before has left.
    CHECK(std::distance(fs::directory_iterator("tmp"), fs::directory_iterator()) <= 1);
    left = left || !fs::is_empty("tmp");
  });
  CHECK(left);
  REQUIRE(run_stowage(command).code == 0);
  CHECK((files_below("out") == outputs));
  CHECK(fs::is_empty("tmp"));
  CHECK(entries() == Arguments{"lenet.onnx", "out", "plan", "tmp"});
}

TEST_CASE("two runs of one plan folder at the same time do not disturb each other") {
  const Workplace here;
  compile_and_run_lenet();
  const auto plan = files_below("plan");
  const TemporariesIn temporaries("tmp");
  for (int i = 0; i < 3; ++i) {
    const pid_t one = start({"run", "plan", "--check", "--save-outputs", "one"}, "one-");
    const pid_t two = start({"run", "plan", "--check", "--save-outputs", "two"}, "two-");
    CHECK(wait_for(one) == 0);
    CHECK(wait_for(two) == 0);
    INFO(read_text("one-err.txt") << read_text("two-err.txt"));
    CHECK((files_below("one") == files_below("two")));
    CHECK((files_below("plan") == plan));
    CHECK(fs::is_empty("tmp"));
    fs::remove_all("one");
    fs::remove_all("two");
  }
  // To one place: the second says that the first was there.
  const pid_t one = start({"run", "plan", "--save-outputs", "out"}, "one-");
  const pid_t two = start({"run", "plan", "--save-outputs", "out"}, "two-");
  const int code_of_one = wait_for(one);
  CHECK(code_of_one + wait_for(two) == 1);
  CHECK(read_text(code_of_one == 1 ? "one-err.txt" : "two-err.txt").find("[output-exists]") != std::string::npos);
  CHECK(fs::is_empty("tmp"));
  CHECK(entries() == Arguments{"lenet.onnx", "out", "plan", "tmp"});
}

}  // namespace
}  // namespace stowage::test
