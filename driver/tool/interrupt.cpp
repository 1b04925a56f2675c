// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/interrupt.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "core/check.h"
#include "driver/tool/tool_context.h"

namespace stowage {

namespace {

/// A signal handler can reach nothing but such a variable.
volatile std::sig_atomic_t signal_pipe = -1;

constexpr int grace_milliseconds = 800;

extern "C" void on_signal(int) {
  const int saved = errno;
  const char byte = 's';
  if (signal_pipe >= 0) (void)!::write(signal_pipe, &byte, 1);
  errno = saved;
}

void handle(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
  check(::pipe2(pipe_, O_CLOEXEC) == 0, "no pipe for signals");
  signal_pipe = pipe_[1];
  handle(&on_signal);
  watcher_ = std::thread([this] { watch(); });
}

Interrupt::~Interrupt() {
  handle(SIG_DFL);
  signal_pipe = -1;
  const char byte = 'q';
  (void)!::write(pipe_[1], &byte, 1);
  watcher_.join();
  ::close(pipe_[0]);
  ::close(pipe_[1]);
}

void Interrupt::watch() {
  char byte = 0;
  ssize_t got = 0;
  while ((got = ::read(pipe_[0], &byte, 1)) < 0 && errno == EINTR) {
  }
  if (got != 1 || byte == 'q') return;
  source_.request_stop();
  // The work now comes to its end and destroys this object ('q'), unless it sits in something that cannot be stopped.
  pollfd end = {pipe_[0], POLLIN, 0};
  while (::poll(&end, 1, grace_milliseconds) > 0) {
    if (::read(pipe_[0], &byte, 1) == 1 && byte == 'q') return;
  }
  const Hold nothing_half_written = hold();
  std::_Exit(exit_interrupted);
}

}  // namespace stowage
