// SPDX-License-Identifier: Apache-2.0
// The cache of costs as processes use it: killed at any moment, shared, cold and warm.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include "tests/driver/tool_runner.h"
#include "tests/places.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

pid_t start(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), test::build_folder().string() + "/driver/stowage");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const int failure = ::posix_spawn(&child, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  REQUIRE(failure == 0);
  return child;
}

void wait_for(pid_t child) {
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
}

std::vector<std::string> compile_into(const std::string& folder, const std::string& cache) {
  return {"compile", "lenet.onnx", "--fusion", "exact", "--cost-cache", cache, "-o", folder, "--force"};
}

}  // namespace

TEST_CASE("killing a compile fifty times leaves the cache usable") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  REQUIRE(run_stowage(compile_into("expected", "none")).code == 0);
  const auto begin = Clock::now();
  wait_for(start(compile_into("first", "cache")));
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
  CHECK(!fs::is_empty("cache"));

  const unsigned seed = 50;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 50; ++i) {
    // Half of them start without a cache, so that one is being written.
    if (i % 2 == 0) fs::remove_all("cache");
    const pid_t child = start(compile_into("killed", "cache"));
    std::this_thread::sleep_for(whole * (random() % 1000) / 1000);
    ::kill(child, SIGKILL);
    wait_for(child);
    if (i % 10 != 9) continue;
    INFO("after kill " << i);
    wait_for(start(compile_into("after", "cache")));
    CHECK(files_below("after") == files_below("expected"));
  }
  // What the killed ones left of their folders goes with the next one that is written there.
  wait_for(start(compile_into("killed", "cache")));
  CHECK(files_below("killed") == files_below("expected"));
  for (const auto& entry : fs::directory_iterator(".")) {
    CHECK(entry.path().filename().string().find(".killed.") == std::string::npos);
  }
}

TEST_CASE("only what nobody makes any more is removed") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "vector", "-o", "vector.onnx"}).code == 0);
  const auto left = [&](const std::string& name) {
    fs::create_directories(name);
    write_text(fs::path(name) / "plan.json", "{}");
    return name;
  };
  const std::string digits = "0123456789abcdef";
  left(".out.stowage-" + digits);
  left(".out.stowage-" + digits + ".old");
  write_text(".g.dot.stowage-" + digits, "half");
  const std::vector<std::string> kept = {left(".out.stowage-fedcba9876543210"),  // held
                                         left(".other.stowage-" + digits),
                                         left(".out.stowage-" + digits + "0"),
                                         left(".out.stowage-mine"),
                                         left(".out." + digits),
                                         left("out.stowage-" + digits)};
  const int held = ::open(kept[0].c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(::flock(held, LOCK_EX | LOCK_NB) == 0);
  CHECK(run_stowage({"compile", "vector.onnx", "-o", "out"}).code == 0);
  CHECK(run_stowage({"graph", "out", "-o", "g.dot"}).code == 0);
  ::close(held);
  for (const std::string& name : kept) {
    INFO(name);
    CHECK(fs::exists(fs::path(name) / "plan.json"));
  }
  CHECK_FALSE(fs::exists(".out.stowage-" + digits));
  CHECK_FALSE(fs::exists(".out.stowage-" + digits + ".old"));
  CHECK_FALSE(fs::exists(".g.dot.stowage-" + digits));
}

TEST_CASE("a compile writes the same bytes whatever the threads, with a cold cache and a warm one") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "lenet", "-o", "lenet.onnx"}).code == 0);
  REQUIRE(run_stowage(compile_into("expected", "none")).code == 0);
  for (const std::string jobs : {"1", "2", "5"}) {
    for (const char* state : {"cold", "warm"}) {
      INFO(jobs << " threads, " << state);
      std::vector<std::string> arguments = compile_into("again", "cache" + jobs);
      arguments.insert(arguments.end(), {"-j", jobs});
      REQUIRE(run_stowage(arguments).code == 0);
      CHECK(files_below("again") == files_below("expected"));
    }
  }
}

TEST_CASE("a cache that cannot be written is no mistake, but that is said") {
  const Workplace here;
  REQUIRE(run_stowage({"network", "vector", "-o", "vector.onnx"}).code == 0);
  write_text("file", "");
  const ToolRun run = run_stowage({"compile", "vector.onnx", "--cost-cache", "file/below"});
  CHECK(run.code == 0);
  CHECK(run.err ==
        "file/below: warning: costs are not kept, the folder cannot be used: Not a directory [cost-cache]\n"
        "  help: name another folder, or 'none'\n");
  CHECK(run_stowage({"compile", "vector.onnx", "--cost-cache", "/proc/none"}).err.find("/proc") != std::string::npos);
  write_text("jobs.toml", "[[job]]\nname = \"v\"\nnetwork = \"vector\"\n");
  const ToolRun batch = run_stowage({"batch", "jobs.toml", "--cost-cache", "file/below"});
  CHECK(batch.code == 0);
  CHECK(batch.err.find("costs are not kept") != std::string::npos);
  // One that is not there is made.
  CHECK(run_stowage({"compile", "vector.onnx", "--cost-cache", "new/folder"}).err.empty());
  CHECK(fs::exists("new/folder"));
}

}  // namespace stowage::test
