// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/terminal_stream.h"

#include <cerrno>

#include "core/quoting.h"

namespace stowage {

namespace {

/// Bytes at the end of a text that begin a character of UTF-8 and do not end it.
std::size_t unfinished(const std::string& text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) return 0;
    if (byte < 0xC0) continue;
    const std::size_t wanted = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    return back < wanted ? back : 0;
  }
  return 0;
}

}  // namespace

void TerminalBuffer::pass_on(bool all) {
  const std::size_t waiting = all ? 0 : unfinished(pending_);
  if (error_ == 0) errno = 0;
  to_ << terminal_text(std::string_view(pending_).substr(0, pending_.size() - waiting));
  keeps_writing();
  pending_.erase(0, pending_.size() - waiting);
}

bool TerminalBuffer::keeps_writing() {
  if (to_.good()) return true;
  if (error_ == 0) error_ = errno != 0 ? errno : EIO;
  return false;
}

TerminalBuffer::int_type TerminalBuffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  pending_ += traits_type::to_char_type(c);
  pass_on(false);
  return keeps_writing() ? c : traits_type::eof();
}

std::streamsize TerminalBuffer::xsputn(const char* text, std::streamsize size) {
  pending_.append(text, static_cast<std::size_t>(size));
  pass_on(false);
  return keeps_writing() ? size : 0;
}

int TerminalBuffer::sync() {
  pass_on(true);
  to_.flush();
  return keeps_writing() ? 0 : -1;
}

}  // namespace stowage
