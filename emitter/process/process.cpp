// SPDX-License-Identifier: Apache-2.0
#include "emitter/process/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "emitter/process/confinement.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace stowage {
namespace {

constexpr int poll_milliseconds = 50;
constexpr std::size_t longest_output = std::size_t{8} << 20U;

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

/// What the child needs between fork and exec, where it may not allocate.
struct Launch {
  const char* program;
  char* const* arguments;
  char* const* variables;
  const char* folder;
  int output;    ///< becomes its standard output and standard error
  pid_t parent;  ///< which may have ended before the child asked to end with it
  int failed;    ///< takes the error number where the program is not executed
  const Confinement* confinement;
};

/// A session of its own (so that a stop reaches the compiler's own children, and no terminal is in reach), default
/// signals, our pipe as output. It ends with us, or more exactly with the thread that waits for it.
void execute(const Launch& launch) noexcept {
  setsid();
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != launch.parent) return;
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &usual, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(launch.output, STDOUT_FILENO) < 0 ||
      dup2(launch.output, STDERR_FILENO) < 0 || chdir(launch.folder) != 0) {
    return;
  }
  if (launch.confinement != nullptr && !launch.confinement->enter(launch.program, getpid())) return;
  execve(launch.program, launch.arguments, launch.variables);
}

/// Of the child, or -1 where the program was not executed.
pid_t spawn(const std::string& program, const std::vector<std::string>& command, const std::filesystem::path& folder,
            const std::vector<std::string>& environment, int output, const Confinement* confinement) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = child_environment(environment);
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> variable_pointers = pointers(variables);
  const Launch launch = {
      program.c_str(), argument_pointers.data(), variable_pointers.data(), folder.c_str(), output, getpid(), ends[1],
      confinement};
  // Until it has signal handlers of its own, the child would run ours.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = fork();
  if (child == 0) {
    execute(launch);
    const int error = errno;
    (void)!write(launch.failed, &error, sizeof error);
    std::_Exit(EXIT_FAILURE);  // the child, which has no driver to report to
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(ends[1]);
  int error = 0;
  ssize_t got = 0;
  while (child > 0 && (got = read(ends[0], &error, sizeof error)) < 0 && errno == EINTR) {
  }
  close(ends[0]);
  if (child > 0 && got == 0) return child;
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return -1;
}

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
    if (result.output.size() > 2 * longest_output) result.output.erase(0, result.output.size() - longest_output);
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
  const pid_t child = spawn(program, command, folder, environment, ends[1], confinement);
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
