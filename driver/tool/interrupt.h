// SPDX-License-Identifier: Apache-2.0
// Ctrl-C as a stop token. The handler only writes a byte to a pipe; a thread turns it into a request to stop. Work that
// has not stopped after the grace period is cut off with exit code 130, but never while a Hold is held: so nothing is
// left half written.
#pragma once

#include <mutex>
#include <stop_token>
#include <thread>

namespace stowage {

class Interrupt {
 public:
  using Hold = std::unique_lock<std::mutex>;

  /// Takes over SIGINT and SIGTERM until it is destroyed. One at a time.
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  /// Kept while files are written that appear whole or not at all.
  [[nodiscard]] Hold hold() { return Hold(writing_); }

 private:
  void watch();
  std::stop_source source_;
  std::mutex writing_;
  int pipe_[2] = {-1, -1};
  std::thread watcher_;
};

}  // namespace stowage
