// SPDX-License-Identifier: Apache-2.0
#include "tests/driver/tool_process.h"

#include <algorithm>
#include <chrono>
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

}  // namespace stowage::test
