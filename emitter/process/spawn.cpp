// SPDX-License-Identifier: Apache-2.0
#include "emitter/process/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "emitter/process/confinement.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace stowage {
namespace {

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
  ChildStreams streams;
  pid_t parent;  ///< which may have ended before the child asked to end with it
  int failed;    ///< takes the error number where the program is not executed
  const Confinement* confinement;
};

/// A session of its own (so that a stop reaches the compiler's own children, and no terminal is in reach), default
/// signals, our ends as streams. It ends with us, or more exactly with the thread that waits for it.
void execute(const Launch& launch) noexcept {
  setsid();
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != launch.parent) return;
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &usual, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int given = launch.streams.input;
  const int input = given >= 0 ? given : open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(launch.streams.output, STDOUT_FILENO) < 0 ||
      dup2(launch.streams.output, STDERR_FILENO) < 0 || chdir(launch.folder) != 0) {
    return;
  }
  if (launch.confinement != nullptr && !launch.confinement->enter(launch.program, getpid())) return;
  execve(launch.program, launch.arguments, launch.variables);
}

}  // namespace

pid_t spawn(const std::string& program, const std::vector<std::string>& command, const std::filesystem::path& folder,
            const std::vector<std::string>& environment, const ChildStreams& streams, const Confinement* confinement) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = child_environment(environment);
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> variable_pointers = pointers(variables);
  const Launch launch = {
      program.c_str(), argument_pointers.data(), variable_pointers.data(), folder.c_str(), streams, getpid(), ends[1],
      confinement};
  // Until it has signal handlers of its own, the child would run ours.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = fork();
  const int fork_error = errno;
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
  errno = child > 0 ? error : fork_error;
  return -1;
}

}  // namespace stowage
