// SPDX-License-Identifier: Apache-2.0
#include "emitter/process/worker_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

#include "emitter/process/spawn.h"

namespace stowage {
namespace {

constexpr int receive_poll_milliseconds = 50;
constexpr off_t longest_printed = 2000;

/// The end of a file.
std::string end_of(int file) {
  const off_t size = lseek(file, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::clamp<off_t>(size, 0, longest_printed)), '\0');
  const ssize_t got = pread(file, text.data(), text.size(), std::max<off_t>(0, size - longest_printed));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  return text;
}

}  // namespace

bool LineSocket::send(std::string_view line) const {
  std::string text(line);
  text += '\n';
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t count = ::send(descriptor_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) return false;
    rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
  }
  return true;
}

std::optional<std::string> LineSocket::receive(const std::stop_token& stop) {
  std::array<char, 65536> buffer{};
  for (std::size_t searched = 0;;) {
    if (const auto end = pending_.find('\n', searched); end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    searched = pending_.size();
    if (stop.stop_requested()) return std::nullopt;
    pollfd waiting{descriptor_, POLLIN, 0};
    const int ready = poll(&waiting, 1, receive_poll_milliseconds);
    if (ready < 0 && errno != EINTR) return std::nullopt;
    if (ready <= 0) continue;
    const ssize_t count = recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    pending_.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::unique_ptr<WorkerProcess> WorkerProcess::start(const std::string& program,
                                                    const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return nullptr;
  const int printed = memfd_create("printed", MFD_CLOEXEC);
  const pid_t child = printed < 0 ? -1 : spawn(program, command, ".", {}, {ends[1], printed});
  const int failure = errno;
  close(ends[1]);
  if (child > 0) return std::unique_ptr<WorkerProcess>(new WorkerProcess(child, ends[0], printed));
  close(ends[0]);
  if (printed >= 0) close(printed);
  errno = failure;
  return nullptr;
}

void WorkerProcess::ask_to_stop() const {
  if (child_ > 0) kill(child_, SIGTERM);
}

ProcessEnd WorkerProcess::end(std::chrono::milliseconds grace) {
  ProcessEnd end;
  if (child_ < 0) return end;
  using Clock = std::chrono::steady_clock;
  const auto ended = [&](int options) {
    int status = 0;
    pid_t got = 0;
    while ((got = waitpid(child_, &status, options)) < 0 && errno == EINTR) {
    }
    if (got != child_) return false;
    if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
    return true;
  };
  const auto kill_time = Clock::now() + grace;
  bool is_over = ended(WNOHANG);
  while (!is_over && Clock::now() < kill_time) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    is_over = ended(WNOHANG);
  }
  if (!is_over) {
    kill(child_, SIGKILL);
    ended(0);
  }
  child_ = -1;
  end.printed = end_of(printed_);
  return end;
}

WorkerProcess::~WorkerProcess() {
  shutdown(socket_, SHUT_RDWR);
  end(std::chrono::milliseconds(500));
  close(socket_);
  close(printed_);
}

}  // namespace stowage
