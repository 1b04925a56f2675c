// SPDX-License-Identifier: Apache-2.0
#include "core/quoting.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

namespace stowage {

namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  ///< 0: no UTF-8
};

/// The first character of a text that is not empty.
CodePoint first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  std::uint32_t value = first & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    value = value << 6U | (byte(i) & 0x3FU);
  }
  const bool overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  if (overlong || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return {};
  return {value, bytes};
}

bool is_control(std::uint32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

/// Characters that show or hide what stands around them in another order.
bool turns_direction(std::uint32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/// Ends a line for some readers, though it is no control character.
bool separates_lines(std::uint32_t c) { return c == 0x2028 || c == 0x2029; }

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = first_of(text);
    switch (c.value) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: {
        const bool allowed = c.bytes > 0 && (c.value >= 0x20 || c.value == '\n' || c.value == '\t') &&
                             c.value != 0xFFFE && c.value != 0xFFFF;
        if (allowed) result += text.substr(0, c.bytes);
      }
    }
    text.remove_prefix(c.bytes > 0 ? c.bytes : 1);
  }
  return result;
}

std::string dot_string(std::string_view text) {
  constexpr std::size_t longest = 8000;  // Graphviz 2 refuses to read more than 16384 bytes between two quotes
  std::string result = "\"";
  std::size_t start = 0;
  for (const char c : escaped(text)) {
    if (result.size() - start > longest) {
      result += "\" + \"";
      start = result.size();
    }
    result += c == '\\' ? std::string("\\\\") : std::string(1, c);
  }
  return result + "\"";
}

std::string csv_cell(std::string_view text) {
  const bool formula = !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
  const std::string cell = (formula && !is_number(text) ? "'" : "") + std::string(text);
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

namespace {

std::string escape_of(std::uint32_t c) {
  return c > 0xFFFF ? fmt::format("\\U{:08x}", c) : fmt::format("\\u{:04x}", c);
}

/// `text` with the escape of every character for which `is_escaped` holds, and of every byte that is no UTF-8.
template <class IsEscaped>
std::string with_escapes(std::string_view text, const IsEscaped& is_escaped) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = first_of(text);
    if (c.bytes == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (is_escaped(c.value)) {
      result += escape_of(c.value);
    } else {
      result += text.substr(0, c.bytes);
    }
    text.remove_prefix(c.bytes > 0 ? c.bytes : 1);
  }
  return result;
}

}  // namespace

std::string terminal_text(std::string_view text) {
  return with_escapes(text, [](std::uint32_t c) {
    return turns_direction(c) || separates_lines(c) || (is_control(c) && c != '\n' && c != '\t');
  });
}

std::string line_text(std::string_view text) {
  return with_escapes(text, [](std::uint32_t c) { return turns_direction(c) || separates_lines(c) || is_control(c); });
}

std::string c_comment_text(std::string_view text) {
  // C99 promises 4095 characters of a line; some stand before and behind the comment.
  constexpr std::size_t maximum = 3800;
  const std::string ascii = with_escapes(text, [](std::uint32_t c) { return c < 0x20 || c >= 0x7F || c == '\\'; });
  std::string safe;
  for (const char c : ascii) {
    const char before = safe.empty() ? ' ' : safe.back();
    const bool apart = (before == '*' && c == '/') || (before == '/' && c == '*') || (before == '?' && c == '?');
    if (apart) safe += ' ';
    safe += c;
  }
  if (safe.size() > maximum) safe.replace(maximum / 2, safe.size() - maximum + 5, " ... ");
  return safe;
}

std::string markdown_text(std::string_view text) {
  std::string marked;
  for (const char c : text) {
    const bool link = c == '(' && marked.ends_with(']');
    if (c == '<' || c == '&' || c == '`' || c == '\\' || link) marked += '\\';
    marked += c;
  }
  return line_text(marked);
}

std::string markdown_code(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string marks(longest + 1, '`');
  if (text.empty()) return "` `";
  // Readers take a space away at both ends, if there is one, and something else between.
  const bool spaces =
      text.starts_with(' ') && text.ends_with(' ') && text.find_first_not_of(' ') != std::string_view::npos;
  const std::string_view space = longest > 0 || spaces ? " " : "";
  return fmt::format("{0}{1}{2}{1}{0}", marks, space, line_text(text));
}

std::string shortened(std::string_view name, std::size_t maximum) {
  std::vector<std::size_t> starts;  // of code points
  for (std::size_t i = 0; i < name.size(); ++i) {
    if ((static_cast<unsigned char>(name[i]) & 0xC0U) != 0x80U) starts.push_back(i);
  }
  if (starts.size() <= maximum || maximum < 3) return std::string(name);
  const std::size_t tail = (maximum - 1) / 2;
  const std::size_t head = maximum - 1 - tail;
  return std::string(name.substr(0, starts[head])) + "…" + std::string(name.substr(starts[starts.size() - tail]));
}

}  // namespace stowage
