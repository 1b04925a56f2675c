// SPDX-License-Identifier: Apache-2.0
// A program that is sent lines and answers with lines, over a socket that is its standard input. What it prints
// otherwise is kept for the case that it dies.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace stowage {

/// How a process came to its end.
struct ProcessEnd {
  std::optional<int> exit_code;  ///< where it ended by itself
  int signal = 0;                ///< that ended it, or 0
  std::string printed;           ///< the last lines of what it printed
};

/// Text lines over a socket, each ended by a line break. Of one thread at a time.
class LineSocket {
 public:
  explicit LineSocket(int descriptor) : descriptor_(descriptor) {}  ///< which stays the caller's
  /// `line` is without its break. False where the other end is closed.
  [[nodiscard]] bool send(std::string_view line) const;
  /// Nothing when the other end is closed, or within a twentieth of a second after a stop is requested.
  std::optional<std::string> receive(const std::stop_token& stop);

 private:
  int descriptor_;
  std::string pending_;
};

class WorkerProcess {
 public:
  /// Runs `program` (a path) in the current folder. Null where that is not possible; errno says why. It is killed when
  /// the thread that calls this ends.
  static std::unique_ptr<WorkerProcess> start(const std::string& program, const std::vector<std::string>& command);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();  ///< closes its input, by which it should end

  LineSocket& lines() { return lines_; }
  /// SIGTERM.
  void ask_to_stop() const;
  /// Waits that long for it to end, then kills it.
  ProcessEnd end(std::chrono::milliseconds grace);

 private:
  WorkerProcess(pid_t child, int socket, int printed)
      : child_(child), socket_(socket), printed_(printed), lines_(socket) {}

  pid_t child_;
  int socket_;
  int printed_;  ///< a file in memory
  LineSocket lines_;
};

}  // namespace stowage
