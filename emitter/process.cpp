// SPDX-License-Identifier: Apache-2.0
#include "emitter/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace stowage {
namespace {

constexpr int poll_milliseconds = 50;

/// The environment of the child: ours, with `added` in front of (and instead of) equal names.
std::vector<std::string> child_environment(const std::vector<std::string>& added) {
  std::vector<std::string> all = added;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& other : added) replaced = replaced || other.starts_with(name);
    if (!replaced) all.push_back(text);
  }
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// A process group of its own (so that a stop reaches the compiler's own children), default signals, our pipe as
/// output.
int spawn(pid_t& child, const std::string& program, const std::vector<std::string>& command,
          const std::filesystem::path& folder, const std::vector<std::string>& environment, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = child_environment(environment);
  const int error = posix_spawn(&child, program.c_str(), &actions, &attributes, pointers(arguments).data(),
                                pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/// Reads until the child closes its output; kills it when a stop is requested and when its time is over.
void collect(pid_t child, int input, ProcessResult& result, const std::stop_token& stop,
             std::optional<std::chrono::steady_clock::time_point> end) {
  std::array<char, 65536> buffer{};
  for (;;) {
    if (!result.stopped && !result.out_of_time) {
      result.stopped = stop.stop_requested();
      result.out_of_time = !result.stopped && end && std::chrono::steady_clock::now() >= *end;
      if (result.stopped || result.out_of_time) kill(-child, SIGKILL);
    }
    pollfd waiting{input, POLLIN, 0};
    const int ready = poll(&waiting, 1, poll_milliseconds);
    if (ready < 0 && errno != EINTR) return;
    if (ready <= 0) continue;
    const ssize_t n = read(input, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    result.output.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

}  // namespace

std::string find_program(const std::string& name) {
  const auto executable = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
  };
  if (name.empty()) return {};
  if (name.find('/') != std::string::npos) {
    return executable(name) ? std::filesystem::absolute(name).string() : std::string{};
  }
  const char* variable = std::getenv("PATH");
  const std::string path = variable != nullptr ? variable : "/usr/bin:/bin";
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    std::string candidate = path.substr(begin, end - begin) + "/" + name;
    if (end > begin && executable(candidate)) return candidate;
    begin = end + 1;
  }
  return {};
}

ProcessResult run_process(const std::vector<std::string>& command, const std::filesystem::path& folder,
                          const std::vector<std::string>& environment, const std::stop_token& stop,
                          std::optional<std::chrono::milliseconds> time_limit) {
  ProcessResult result;
  const std::string program = command.empty() ? std::string{} : find_program(command.front());
  std::array<int, 2> ends{};
  if (program.empty() || pipe2(ends.data(), O_CLOEXEC) != 0) return result;
  pid_t child = 0;
  const int error = spawn(child, program, command, folder, environment, ends[1]);
  close(ends[1]);
  if (error == 0) {
    result.started = true;
    const auto end = time_limit ? std::optional(std::chrono::steady_clock::now() + *time_limit) : std::nullopt;
    collect(child, ends[0], result, stop, end);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  }
  close(ends[0]);
  return result;
}

}  // namespace stowage
