// SPDX-License-Identifier: Apache-2.0
#include "tests/quoting_promises.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/quoting.h"
#include "driver/text/shell_text.h"
#include "driver/text/url_text.h"

namespace stowage::test {

namespace {

std::string utf8_of(std::uint32_t c) {
  const auto tail = [&](unsigned shift) { return static_cast<char>(0x80U | (c >> shift & 0x3FU)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0U | c >> 6U), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xE0U | c >> 12U), tail(6), tail(0)};
  return {static_cast<char>(0xF0U | c >> 18U), tail(12), tail(6), tail(0)};
}

/// Code points; a byte that belongs to none is nothing. A text is UTF-8 where writing its characters gives it again.
std::vector<std::pair<std::optional<std::uint32_t>, std::string>> characters_of(std::string_view text) {
  std::vector<std::pair<std::optional<std::uint32_t>, std::string>> characters;
  while (!text.empty()) {
    std::size_t bytes = 1;
    std::optional<std::uint32_t> found;
    for (std::size_t count = 1; count <= 4 && count <= text.size() && !found; ++count) {
      constexpr std::array<std::uint32_t, 4> masks = {0x7F, 0x1F, 0x0F, 0x07};
      std::uint32_t value = static_cast<unsigned char>(text[0]) & masks[count - 1];
      for (std::size_t i = 1; i < count; ++i) value = value << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
      const bool is_character = value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
      if (!is_character || utf8_of(value) != text.substr(0, count)) continue;
      found = value;
      bytes = count;
    }
    characters.emplace_back(found, text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return characters;
}

/// XML 1.0, production Char, without the carriage return, which readers make a line feed of.
bool is_of_xml(std::uint32_t c) {
  return c == 0x9 || c == 0xA || (c >= 0x20 && c <= 0xD7FF) || (c >= 0xE000 && c <= 0xFFFD) || c >= 0x10000;
}

std::string of_xml(std::string_view text) {
  std::string kept;
  for (const auto& [c, bytes] : characters_of(text)) {
    if (c && is_of_xml(*c)) kept += bytes;
  }
  return kept;
}

/// Text or an attribute's value in double quotes; nothing where it is not that.
std::optional<std::string> read_xml(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 5> entities = {
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}}};
  std::string read;
  while (!text.empty()) {
    if (std::string_view("<>\"'").find(text.front()) != std::string_view::npos) return std::nullopt;
    std::size_t bytes = 1;
    char c = text.front();
    if (c == '&') {
      bytes = 0;
      for (const auto& [entity, meaning] : entities) {
        if (text.starts_with(entity)) std::tie(bytes, c) = std::pair(entity.size(), meaning);
      }
      if (bytes == 0) return std::nullopt;
    }
    read += c;
    text.remove_prefix(bytes);
  }
  return read;
}

/// Strings of Graphviz, joined; nothing where one is too long or they are followed by more.
std::optional<std::string> read_dot(std::string_view text) {
  constexpr std::size_t longest = 16'384;
  std::string read;
  for (;;) {
    if (!text.starts_with('"')) return std::nullopt;
    std::size_t at = 1;
    while (at < text.size() && text[at] != '"') {
      if (text[at] == '\\' && (at + 1 >= text.size() || text[at + 1] != '\\')) return std::nullopt;  // \N, \"
      at += text[at] == '\\' ? 1 : 0;
      read += text[at++];
    }
    if (at >= text.size() || at > longest) return std::nullopt;
    text.remove_prefix(at + 1);
    if (text.empty()) return read;
    if (!text.starts_with(" + ")) return std::nullopt;
    text.remove_prefix(3);
  }
}

/// A part of a path in a URL (RFC 3986: unreserved characters and percent-encoding); nothing where it is none.
std::optional<std::string> read_url(std::string_view text) {
  constexpr std::string_view unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  constexpr std::string_view digits = "0123456789abcdef";
  std::string read;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (unreserved.find(text[at]) != std::string_view::npos) {
      read += text[at];
      continue;
    }
    if (text[at] != '%' || at + 2 >= text.size()) return std::nullopt;
    const std::size_t high = digits.find(text[at + 1]);
    const std::size_t low = digits.find(text[at + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    read += static_cast<char>(16 * high + low);
    at += 2;
  }
  return read;
}

/// The cells of a line of a CSV file (RFC 4180).
std::optional<std::vector<std::string>> read_csv(std::string_view text) {
  std::vector<std::string> cells(1);
  while (!text.empty()) {
    if (text.starts_with('"')) {
      for (text.remove_prefix(1);; text.remove_prefix(1)) {
        if (text.empty()) return std::nullopt;
        if (text.front() == '"' && !text.substr(1).starts_with('"')) break;
        if (text.front() == '"') text.remove_prefix(1);
        cells.back() += text.front();
      }
      text.remove_prefix(1);
    } else {
      for (; !text.empty() && text.front() != ','; text.remove_prefix(1)) {
        if (std::string_view("\"\r\n").find(text.front()) != std::string_view::npos) return std::nullopt;
        cells.back() += text.front();
      }
    }
    if (text.empty()) break;
    if (text.front() != ',') return std::nullopt;
    text.remove_prefix(1);
    cells.emplace_back();
  }
  return cells;
}

bool looks_like_a_formula(const std::string& cell) {
  if (cell.empty() || std::string_view("=+-@\t\r").find(cell.front()) == std::string_view::npos) return false;
  char* end = nullptr;
  const std::string_view number = std::string_view(cell).substr(1);
  const bool begins_like_one =
      cell.find_first_of(" \t\r\nxXpP") == std::string::npos && !number.starts_with('+') && !number.starts_with('-');
  static_cast<void>(std::strtod(cell.c_str(), &end));
  return !begins_like_one || end != cell.c_str() + cell.size();
}

bool steers_a_terminal(std::uint32_t c) {
  if (c == '\n' || c == '\t') return false;
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x061C || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/// A word of a POSIX shell, of plain characters, single quotes, and a quote behind a backslash.
std::optional<std::string> read_shell(std::string_view text) {
  std::string read;
  while (!text.empty()) {
    if (text.starts_with('\'')) {
      const std::size_t end = text.find('\'', 1);
      if (end == std::string_view::npos) return std::nullopt;
      read += text.substr(1, end - 1);
      text.remove_prefix(end + 1);
    } else if (text.starts_with("\\'")) {
      read += '\'';
      text.remove_prefix(2);
    } else {
      if (std::string_view(" \t\r\n\"\\$`&|;<>()*?[]#~{}!").find(text.front()) != std::string_view::npos)
        return std::nullopt;
      read += text.front();
      text.remove_prefix(1);
    }
  }
  return read;
}

std::string broken_terminal_text(std::string_view text) {
  const std::string shown = terminal_text(text);
  for (const auto& [c, bytes] : characters_of(shown)) {
    if (!c) return "terminal_text is UTF-8";
    if (steers_a_terminal(*c)) return "terminal_text steers no terminal";
  }
  if (terminal_text(shown) != shown) return "terminal_text of terminal_text is the same";
  return {};
}

std::string broken_line_text(std::string_view text) {
  const std::string line = line_text(text);
  for (const auto& [c, bytes] : characters_of(line)) {
    if (!c) return "line_text is UTF-8";
    if (steers_a_terminal(*c) || *c == '\n' || *c == '\t') return "line_text is one line that steers nothing";
  }
  if (line_text(line) != line) return "line_text of line_text is the same";
  return {};
}

std::string broken_c_comment(std::string_view text) {
  constexpr std::size_t longest = 3800;
  const std::string comment = c_comment_text(text);
  if (comment.size() > longest) return "c_comment_text fits a line";
  for (const char c : comment) {
    if (c < 0x20 || c > 0x7E) return "c_comment_text is printable ASCII";
  }
  for (const char* const never : {"*/", "/*", "??"}) {
    if (comment.find(never) != std::string::npos) return "c_comment_text neither ends, opens nor translates anything";
  }
  if (comment.ends_with('\\')) return "c_comment_text joins no lines";
  return {};
}

/// Markdown's text (CommonMark) with its escapes undone; nothing where it holds markup of HTML, code or links.
std::optional<std::string> read_markdown(std::string_view text) {
  std::string read;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool link = text[at] == '(' && at > 0 && text[at - 1] == ']';
    if (link || std::string_view("<&`").find(text[at]) != std::string_view::npos) return std::nullopt;
    constexpr std::string_view punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
    const bool escapes =
        text[at] == '\\' && at + 1 < text.size() && punctuation.find(text[at + 1]) != std::string::npos;
    if (escapes) ++at;
    read += text[at];
  }
  return read;
}

/// What a span of code shows (CommonMark 6.1); nothing where it is none.
std::optional<std::string> read_markdown_code(std::string_view text) {
  const std::size_t marks = std::min(text.find_first_not_of('`'), text.size());
  if (marks == 0 || marks == text.size()) return std::nullopt;
  std::string_view inside = text.substr(marks);
  for (std::size_t at = 0; at < inside.size();) {
    const std::size_t run = std::min(inside.find_first_not_of('`', at), inside.size()) - at;
    if (run == marks) {
      if (at + run != inside.size()) return std::nullopt;
      inside = inside.substr(0, at);
      const bool framed = inside.starts_with(' ') && inside.ends_with(' ') && inside.size() > 1;
      if (framed && inside.find_first_not_of(' ') != std::string_view::npos) {
        inside = inside.substr(1, inside.size() - 2);
      }
      return std::string(inside);
    }
    at += std::max<std::size_t>(run, 1);
  }
  return std::nullopt;
}

std::string broken_markdown(std::string_view text) {
  const std::string line = line_text(text);
  if (read_markdown(markdown_text(text)) != line) return "markdown_text is read as the line";
  const auto code = read_markdown_code(markdown_code(text));
  if (code != line && !(text.empty() && code == " ")) return "markdown_code is read as the line";
  return {};
}

std::string broken_shortening(std::string_view text) {
  for (const std::size_t maximum : {3U, 4U, 17U}) {
    const auto characters = characters_of(text);
    const std::string name = shortened(text, maximum);
    bool is_utf8 = true;
    for (const auto& [c, bytes] : characters) is_utf8 = is_utf8 && c.has_value();
    if (!is_utf8) continue;
    const auto left = characters_of(name);
    for (const auto& [c, bytes] : left) {
      if (!c) return "shortened cuts no character";
    }
    if (characters.size() <= maximum ? name != text : left.size() != maximum) return "shortened keeps to its length";
  }
  return {};
}

}  // namespace

std::string broken_promise_of_quoting(std::string_view text) {
  const std::string of_markup = of_xml(text);
  if (read_xml(escaped(text)) != of_markup) return "escaped is read as the text";
  const auto in_dot = read_dot(dot_string(text));
  if (!in_dot || read_xml(*in_dot) != of_markup) return "dot_string is read as the text";
  if (read_url(url_segment(text)) != text) return "url_segment is read as the text";

  const auto cells = read_csv("before," + csv_cell(text) + ",behind");
  if (!cells || cells->size() != 3 || cells->front() != "before" || cells->back() != "behind")
    return "csv_cell is one cell";
  const std::string& cell = (*cells)[1];
  if (cell != text && cell != "'" + std::string(text)) return "csv_cell is read as the text";
  if (looks_like_a_formula(cell)) return "csv_cell is no formula";
  if (read_shell(shell_quoted(std::string(text))) != text && text.find('\0') == std::string_view::npos)
    return "shell_quoted is read as the text";
  for (const auto& broken_by :
       {broken_terminal_text, broken_line_text, broken_c_comment, broken_markdown, broken_shortening}) {
    if (std::string broken = broken_by(text); !broken.empty()) return broken;
  }
  return {};
}

}  // namespace stowage::test
