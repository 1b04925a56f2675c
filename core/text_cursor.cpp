// SPDX-License-Identifier: Apache-2.0
#include "core/text_cursor.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace stowage {
namespace {

constexpr int max_errors = 20;
constexpr int max_depth = 200;
constexpr std::size_t longest_shown_line = 400;

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

constexpr std::array<std::string_view, 6> double_symbols = {"->", "<=", "==", "&&", "||", ".."};
constexpr std::string_view single_symbols = "{}()[],:=<>+-*/%@#";

/// Words that begin or join something in one of the two texts.
constexpr std::array reserved_words = {
    "acc",      "any",   "as",           "at",     "barrier", "block",  "body", "buffer", "bytes",     "compute",
    "constant", "core",  "else",         "fill",   "finish",  "for",    "from", "get",    "graph",     "hash",
    "if",       "in",    "inf",          "input",  "lane",    "ldm",    "let",  "map",    "max",       "memory",
    "min",      "nan",   "nest",         "of",     "op",      "output", "over", "put",    "sharing",   "slots",
    "source",   "stage", "intermediate", "stride", "strides", "table",  "to",   "update", "variables", "wait",
    "written",  "_"};

/// The byte that "xNN" stands for at the beginning of a text, behind a backslash.
std::optional<char> hex_byte(std::string_view text) {
  unsigned value = 0;
  if (text.size() < 3 || text[0] != 'x') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + 3, value, 16);
  if (error != std::errc() || end != text.data() + 3) return std::nullopt;
  return static_cast<char>(value);
}

std::size_t digits_end(std::string_view rest, std::size_t from) {
  while (from < rest.size() && is_digit(rest[from])) ++from;
  return from;
}

/// Where the number that `rest` begins with ends. Its kind tells whether it has a point or an exponent.
std::size_t number_end(std::string_view rest, Token::Kind& kind) {
  kind = Token::Kind::integer;
  std::size_t length = digits_end(rest, 0);
  if (length + 1 < rest.size() && rest[length] == '.' && is_digit(rest[length + 1])) {
    kind = Token::Kind::number;
    length = digits_end(rest, length + 1);
  }
  if (length < rest.size() && (rest[length] == 'e' || rest[length] == 'E')) {
    std::size_t exponent = length + 1;
    if (exponent < rest.size() && (rest[exponent] == '+' || rest[exponent] == '-')) ++exponent;
    if (exponent < rest.size() && is_digit(rest[exponent])) {
      kind = Token::Kind::number;
      length = digits_end(rest, exponent);
    }
  }
  return length;
}

/// Takes the number that `rest` begins with; characters taken.
std::size_t take_number(std::string_view rest, Token& token) {
  const std::size_t length = number_end(rest, token.kind);
  token.text = rest.substr(0, length);
  const char* const end = rest.data() + length;
  if (token.kind == Token::Kind::integer && std::from_chars(rest.data(), end, token.integer).ec != std::errc()) {
    token.kind = Token::Kind::number;  // an integer beyond 64 bits
  }
  if (std::from_chars(rest.data(), end, token.number).ec != std::errc()) {
    token.number = std::numeric_limits<double>::infinity();
  }
  return length;
}

/// Takes the string whose opening quote `rest` begins with, up to its closing quote or the end of the line; characters
/// taken, the closing quote not among them.
std::size_t take_string(std::string_view rest, Token& token) {
  token.kind = Token::Kind::string;
  std::size_t length = 1;
  while (length < rest.size() && rest[length] != '"') {
    const bool escape = rest[length] == '\\' && length + 1 < rest.size();
    if (escape) ++length;
    if (const auto byte = escape ? hex_byte(rest.substr(length)) : std::nullopt) {
      token.text += *byte;
      length += 3;
    } else {
      token.text += rest[length++];
    }
  }
  return length;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string described(const Token& token) {
  switch (token.kind) {
    case Token::Kind::end: return "the end of the text";
    case Token::Kind::string: return fmt::format("\"{}\"", token.text);
    default: return fmt::format("'{}'", token.text);
  }
}

}  // namespace

TextCursor::TextCursor(std::string_view text, std::string file, Diagnostics& diagnostics)
    : file_(std::move(file)), diagnostics_(diagnostics) {
  tokenize(text);
}

void TextCursor::tokenize(std::string_view text) {
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    lines_.emplace_back(text.substr(from, to - from));
    from = to + 1;
  }
  for (std::size_t line = 0; line < lines_.size(); ++line) tokenize_line(lines_[line], static_cast<int>(line) + 1);
  Token end;
  end.line = static_cast<int>(lines_.size());
  end.column = lines_.empty() ? 1 : static_cast<int>(lines_.back().size()) + 1;
  end.end_column = end.column + 1;
  tokens_.push_back(end);
}

void TextCursor::tokenize_line(const std::string& line, int number) {
  for (std::size_t i = 0; i < line.size();) {
    if (is_space(line[i])) {
      ++i;
      continue;
    }
    const std::string_view rest = std::string_view(line).substr(i);
    Token token;
    token.line = number;
    token.column = static_cast<int>(i) + 1;
    if (rest.starts_with("//")) {
      token.kind = Token::Kind::note;
      token.text = trimmed(rest.substr(2));
      notes_.push_back(token);
      return;
    }
    std::size_t length = 1;
    bool known = true;
    if (is_name_start(rest[0])) {
      while (length < rest.size() && is_name_part(rest[length])) ++length;
      token.kind = Token::Kind::name;
      token.text = rest.substr(0, length);
    } else if (is_digit(rest[0])) {
      length = take_number(rest, token);
    } else if (rest[0] == '"') {
      length = take_string(rest, token);
      if (length < rest.size()) {
        ++length;
      } else {
        token.end_column = token.column + static_cast<int>(length);
        error(token, "unterminated-string", "this string has no closing quote on its line");
      }
    } else {
      token.kind = Token::Kind::symbol;
      const bool is_double =
          std::find(double_symbols.begin(), double_symbols.end(), rest.substr(0, 2)) != double_symbols.end();
      if (is_double) length = 2;
      token.text = rest.substr(0, length);
      token.end_column = token.column + static_cast<int>(length);
      known = is_double || single_symbols.find(rest[0]) != std::string_view::npos;
      if (!known) {
        error(token, "unknown-character",
              fmt::format("character 0x{:02x} begins nothing here", static_cast<unsigned char>(rest[0])));
      }
    }
    token.end_column = token.column + static_cast<int>(length);
    if (known) tokens_.push_back(std::move(token));
    i += length;
  }
}

const Token& TextCursor::peek(std::size_t ahead) const { return tokens_[std::min(next_ + ahead, tokens_.size() - 1)]; }

Token TextCursor::take() {
  const Token& token = peek();
  if (next_ + 1 < tokens_.size()) ++next_;
  return token;
}

std::string TextCursor::take_note() {
  if (next_ == 0) return {};
  const int line = tokens_[next_ - 1].line;
  if (peek().line == line && !at_end()) return {};
  const auto note =
      std::lower_bound(notes_.begin(), notes_.end(), line, [](const Token& t, int wanted) { return t.line < wanted; });
  return note != notes_.end() && note->line == line ? note->text : std::string();
}

bool TextCursor::at_line_end() const { return at_end() || (next_ > 0 && tokens_[next_ - 1].line != peek().line); }

void TextCursor::skip_rest_of_line() {
  while (!at_line_end()) take();
}

bool TextCursor::at(std::string_view text, std::size_t ahead) const {
  const Token& token = peek(ahead);
  return (token.kind == Token::Kind::symbol || token.kind == Token::Kind::name) && token.text == text;
}

bool TextCursor::accept(std::string_view text) {
  if (!at(text)) return false;
  take();
  return true;
}

void TextCursor::expect(std::string_view text) {
  if (!accept(text)) {
    fail(peek(), "unexpected-token", fmt::format("found {}, '{}' was wanted", described(peek()), text));
  }
}

std::string TextCursor::expect_name(std::string_view what) {
  if (peek().kind != Token::Kind::name && peek().kind != Token::Kind::string) {
    fail(peek(), "unexpected-token", fmt::format("found {}, the name of {} was wanted", described(peek()), what));
  }
  return take().text;
}

std::int64_t TextCursor::expect_integer(std::string_view what) {
  const bool negative = accept("-");
  if (negative && peek().kind == Token::Kind::number && peek().text == "9223372036854775808") {
    take();
    return std::numeric_limits<std::int64_t>::min();
  }
  if (peek().kind != Token::Kind::integer) {
    fail(peek(), "unexpected-token", fmt::format("found {}, {} (an integer) was wanted", described(peek()), what));
  }
  const std::int64_t value = take().integer;
  return negative ? -value : value;
}

double TextCursor::expect_number(std::string_view what) {
  const bool negative = accept("-");
  double value = 0;
  if (peek().kind == Token::Kind::number || peek().kind == Token::Kind::integer) {
    value = take().number;
  } else if (accept("inf")) {
    value = std::numeric_limits<double>::infinity();
  } else if (accept("nan")) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    fail(peek(), "unexpected-token", fmt::format("found {}, {} (a number) was wanted", described(peek()), what));
  }
  return negative ? -value : value;
}

ElementType TextCursor::expect_type() {
  const Token token = peek();
  const auto type = token.kind == Token::Kind::name ? element_type_named(token.text) : std::nullopt;
  if (!type)
    fail(token, "unknown-type", fmt::format("found {}, an element type was wanted", described(token)),
         "element types are f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, bool, f16 and bf16");
  take();
  return *type;
}

Shape TextCursor::expect_shape() {
  const Token start = peek();
  expect("[");
  Shape shape;
  while (!at("]")) {
    if (!shape.empty()) expect(",");
    shape.push_back(expect_integer("an extent"));
  }
  expect("]");
  const auto elements = checked_element_count(shape);
  if (!elements || *elements >= std::int64_t{1} << 56) {
    fail(start, "bad-shape", fmt::format("shape {} has a negative extent or too many elements", to_text(shape)));
  }
  return shape;
}

Tensor TextCursor::expect_elements(ElementType type, const Shape& shape) {
  const Token start = peek();
  const std::int64_t wanted = element_count(shape);
  const auto size = static_cast<std::size_t>(byte_size(type));
  std::vector<std::byte> bytes;
  std::int64_t found = 0;
  expect("[");
  while (!at("]")) {
    if (found > 0) expect(",");
    bytes.resize(bytes.size() + size);
    std::byte* const element = bytes.data() + bytes.size() - size;
    if (is_float(type)) {
      if (type == ElementType::f16 || type == ElementType::bf16) {
        fail(start, "unsupported-type", fmt::format("elements of type {} cannot be written out", name_of(type)));
      }
      store_element(type, expect_number("an element"), element);
    } else if (type == ElementType::u64 && peek().kind == Token::Kind::number) {
      const Token token = take();
      std::uint64_t value = 0;
      const auto end = token.text.data() + token.text.size();
      if (std::from_chars(token.text.data(), end, value).ptr != end) {
        fail(token, "unexpected-token", fmt::format("found '{}', an integer was wanted", token.text));
      }
      store_element(type, static_cast<std::int64_t>(value), element);
    } else {
      store_element(type, expect_integer("an element"), element);
    }
    ++found;
  }
  expect("]");
  if (found != wanted) {
    fail(start, "bad-shape", fmt::format("{} elements are given for shape {}", found, to_text(shape)));
  }
  return Tensor(type, shape, std::move(bytes));
}

void TextCursor::error(const Token& where, std::string code, std::string message, std::string remedy) {
  failed_ = true;
  failing_line_ = where.line;
  const auto errors = std::count_if(diagnostics_.entries().begin(), diagnostics_.entries().end(),
                                    [](const Diagnostic& d) { return d.severity == Severity::error; });
  if (errors >= max_errors) return;
  Diagnostic diagnostic;
  diagnostic.code = std::move(code);
  diagnostic.location = {file_, where.line, where.column, where.end_column, {}};
  diagnostic.message = std::move(message);
  diagnostic.remedy = std::move(remedy);
  const auto line = static_cast<std::size_t>(where.line - 1);
  if (line < lines_.size() && lines_[line].size() <= longest_shown_line) {
    diagnostic.source_line = lines_[line];
    std::replace(diagnostic.source_line.begin(), diagnostic.source_line.end(), '\t', ' ');
  }
  diagnostics_.add(std::move(diagnostic));
}

void TextCursor::fail(const Token& where, std::string code, std::string message, std::string remedy) {
  error(where, std::move(code), std::move(message), std::move(remedy));
  throw SyntaxError{};
}

void TextCursor::abandon(const Token& where) {
  failed_ = true;
  failing_line_ = where.line;
  throw SyntaxError{};
}

std::set<std::string> TextCursor::skip_line() {
  std::set<std::string> names;
  while (next_ > 0 && tokens_[next_ - 1].line >= failing_line_) --next_;
  while (!at_end() && peek().line <= failing_line_) {
    if (peek().kind == Token::Kind::name || peek().kind == Token::Kind::string) names.insert(peek().text);
    take();
  }
  return names;
}

TextCursor::Depth::Depth(TextCursor& cursor) : cursor_(cursor) {
  if (cursor_.depth_ >= max_depth) cursor.fail(cursor.peek(), "nested-too-deeply", "this nests too deeply to be read");
  ++cursor_.depth_;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\x{:02x}", c);
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string quoted_name(std::string_view name) {
  const bool identifier =
      !name.empty() && is_name_start(name[0]) && std::all_of(name.begin(), name.end(), is_name_part);
  const bool reserved = std::find(reserved_words.begin(), reserved_words.end(), name) != reserved_words.end();
  return identifier && !reserved ? std::string(name) : quoted(name);
}

std::string number_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".einf") == std::string::npos) text += ".0";
  return text;
}

std::string hash_text(const Tensor& value) {
  return fmt::format("{:016x}", XXH64(value.bytes().data(), value.bytes().size(), 0));
}

std::string value_text(const Tensor& value, std::int64_t max_elements) {
  const bool storable = value.type() != ElementType::f16 && value.type() != ElementType::bf16;
  if (value.size() > max_elements || !storable) return fmt::format("hash \"{}\"", hash_text(value));
  std::vector<std::string> elements;
  for (std::int64_t i = 0; i < value.size(); ++i) {
    if (value.type() == ElementType::f32) {
      elements.push_back(fmt::format("{}", static_cast<float>(value.as_double(i))));
    } else if (value.type() == ElementType::f64) {
      elements.push_back(fmt::format("{}", value.as_double(i)));
    } else if (value.type() == ElementType::u64) {
      elements.push_back(fmt::format("{}", static_cast<std::uint64_t>(value.as_int64(i))));
    } else {
      elements.push_back(fmt::format("{}", value.as_int64(i)));
    }
  }
  return fmt::format("= [{}]", fmt::join(elements, ", "));
}

}  // namespace stowage
