// SPDX-License-Identifier: Apache-2.0
#include "emitter/process/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "emitter/process/spawn.h"

namespace stowage {
namespace {

constexpr int poll_milliseconds = 50;
constexpr std::size_t longest_kept_output = std::size_t{8} << 20U;

bool has_ended(pid_t child) {
  siginfo_t ended{};
  const int failed = waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT);
  return failed != 0 ? errno != EINTR : ended.si_pid == child;
}

/// Reads until the child closes its output and has ended; kills it when a stop is requested and when its time is over.
void collect(pid_t child, int input, ProcessResult& result, const std::stop_token& stop,
             std::optional<std::chrono::steady_clock::time_point> end) {
  std::array<char, 65536> buffer{};
  for (bool is_open = true; is_open || !has_ended(child);) {
    if (!result.stopped && !result.out_of_time) {
      result.stopped = stop.stop_requested();
      result.out_of_time = !result.stopped && end && std::chrono::steady_clock::now() >= *end;
      if (result.stopped || result.out_of_time) kill(-child, SIGKILL);
    }
    pollfd waiting{is_open ? input : -1, POLLIN, 0};
    const int ready = poll(&waiting, 1, is_open ? poll_milliseconds : 1);
    if (ready < 0 && errno != EINTR) is_open = false;
    if (ready <= 0) continue;
    const ssize_t n = read(input, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      is_open = false;
      continue;
    }
    result.output.append(buffer.data(), static_cast<std::size_t>(n));
    if (result.output.size() > 2 * longest_kept_output)
      result.output.erase(0, result.output.size() - longest_kept_output);
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
                          std::optional<std::chrono::milliseconds> time_limit, const Confinement* confinement) {
  ProcessResult result;
  const std::string program = command.empty() ? std::string{} : find_program(command.front());
  std::array<int, 2> ends{};
  if (program.empty() || pipe2(ends.data(), O_CLOEXEC) != 0) return result;
  const pid_t child = spawn(program, command, folder, environment, {-1, ends[1]}, confinement);
  close(ends[1]);
  if (child > 0) {
    result.started = true;
    const auto end = time_limit ? std::optional(std::chrono::steady_clock::now() + *time_limit) : std::nullopt;
    collect(child, ends[0], result, stop, end);
    if (confinement != nullptr) kill(-child, SIGKILL);  // what it may have started; it is a zombie itself
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
