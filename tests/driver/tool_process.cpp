// SPDX-License-Identifier: Apache-2.0
#include "tests/driver/tool_process.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include "tests/places.h"

namespace stowage::test {

namespace fs = std::filesystem;

namespace {

/// Processes of which a link below /proc leads to `folder` or below it.
int linked_to(const fs::path& folder, const char* link) {
  int count = 0;
  const std::string start = fs::canonical(folder).string() + "/";
  for (const auto& process : fs::directory_iterator("/proc")) {
    std::error_code none;
    if ((fs::read_symlink(process.path() / link, none).string() + "/").starts_with(start)) ++count;
  }
  return count;
}

}  // namespace

pid_t start(std::vector<std::string> arguments, const std::string& name) {
  arguments.insert(arguments.begin(), test::build_folder().string() + "/driver/stowage");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, (name + "out.txt").c_str(), O_CREAT | O_TRUNC | O_WRONLY,
                                   0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, (name + "err.txt").c_str(), O_CREAT | O_TRUNC | O_WRONLY,
                                   0600);
  pid_t child = -1;
  const int failure = ::posix_spawn(&child, argv[0], &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  INFO(argv[0]);
  REQUIRE(failure == 0);
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::vector<std::string> entries() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(".")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("out.txt") && !name.ends_with("err.txt")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void sleep_milliseconds(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    sleep_milliseconds(10);
  }
  return false;
}

int running_from(const fs::path& folder) { return linked_to(folder, "exe"); }

int working_in(const fs::path& folder) { return linked_to(folder, "cwd"); }

TemporariesIn::TemporariesIn(const fs::path& folder) {
  fs::create_directory(folder);
  ::setenv("TMPDIR", fs::absolute(folder).c_str(), 1);
}

TemporariesIn::~TemporariesIn() { ::unsetenv("TMPDIR"); }

}  // namespace stowage::test
