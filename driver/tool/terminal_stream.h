// SPDX-License-Identifier: Apache-2.0
// A stream on which names of a model cannot steer the terminal: what is written arrives as terminal_text of it.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace stowage {

class TerminalBuffer : public std::streambuf {
 public:
  explicit TerminalBuffer(std::ostream& to) : to_(to) {}
  ~TerminalBuffer() override { pass_on(true); }
  TerminalBuffer(const TerminalBuffer&) = delete;
  TerminalBuffer& operator=(const TerminalBuffer&) = delete;
  /// The errno of what could not be written first, or 0.
  [[nodiscard]] int error() const { return error_; }

 private:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;
  /// Writes what is pending; bytes at its end that may be the beginning of a character wait unless it is `all`.
  void pass_on(bool all);
  /// True where the outer stream is still good; else it keeps why.
  bool keeps_writing();

  std::ostream& to_;
  std::string pending_;
  int error_ = 0;
};

class TerminalStream : public std::ostream {
 public:
  explicit TerminalStream(std::ostream& to) : std::ostream(nullptr), buffer_(to) { rdbuf(&buffer_); }
  /// Why not all of it could be written: an errno, or 0.
  [[nodiscard]] int error() const { return buffer_.error(); }

 private:
  TerminalBuffer buffer_;
};

}  // namespace stowage
