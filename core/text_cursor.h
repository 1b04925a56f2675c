// SPDX-License-Identifier: Apache-2.0
// Reading the text forms of graphs and loop nests: tokens with their locations, and the errors that point at them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/diagnostics.h"
#include "core/element_type.h"
#include "core/tensor.h"

namespace stowage {

struct Token {
  enum class Kind : std::uint8_t {
    name,     ///< identifier: text
    string,   ///< "quoted": text without quotes and escapes
    integer,  ///< digits: integer
    number,   ///< digits with a point or an exponent: number
    symbol,   ///< punctuation: text
    note,     ///< // to the end of the line: text without the slashes and the spaces around
    end
  };
  Kind kind = Kind::end;
  std::string text;  ///< as written for numbers
  std::int64_t integer = 0;
  double number = 0;
  int line = 1;
  int column = 1;
  int end_column = 1;
};

/// Thrown after the diagnostic was added; caught where a parser takes up the thread again.
struct SyntaxError {};

/// A place in a text of tokens. Notes are skipped but where they are asked for.
class TextCursor {
 public:
  /// Characters that belong to no token are reported at once and left out.
  TextCursor(std::string_view text, std::string file, Diagnostics& diagnostics);

  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const;
  Token take();
  /// The note that ends the line of the last token taken, or "".
  std::string take_note();
  /// For what can only be read once later lines are known: remember the place, skip the line, come back.
  [[nodiscard]] std::size_t position() const { return next_; }
  void seek(std::size_t position) { next_ = position; }
  void skip_rest_of_line();
  [[nodiscard]] bool at_line_end() const;

  [[nodiscard]] bool at(std::string_view text, std::size_t ahead = 0) const;  ///< a symbol or an unquoted name
  bool accept(std::string_view text);
  void expect(std::string_view text);
  std::string expect_name(std::string_view what);      ///< identifier or string
  std::int64_t expect_integer(std::string_view what);  ///< an optional minus sign and digits
  double expect_number(std::string_view what);         ///< also an integer, inf and nan, with an optional minus sign
  ElementType expect_type();
  Shape expect_shape();  ///< [1,3,224,224]; extents of at least 0 with less than 2^56 elements
  Tensor expect_elements(ElementType type, const Shape& shape);  ///< [1, 2, 3], as value_text() writes them

  [[noreturn]] void fail(const Token& where, std::string code, std::string message, std::string remedy = {});
  /// Reports without giving up.
  void error(const Token& where, std::string code, std::string message, std::string remedy = {});
  /// Gives up without a message, because what is wrong was reported elsewhere.
  [[noreturn]] void abandon(const Token& where);
  /// Goes on behind the line of the failing token. Returns every name on that line: what it would have defined is known
  /// to be missing, and need not be reported again.
  std::set<std::string> skip_line();
  [[nodiscard]] const Diagnostics& diagnostics() const { return diagnostics_; }
  [[nodiscard]] bool at_end() const { return peek().kind == Token::Kind::end; }
  /// True once errors of this text were reported.
  [[nodiscard]] bool failed() const { return failed_; }

  /// Guards recursion: texts nest at most so deep that the stack holds.
  class Depth {
   public:
    explicit Depth(TextCursor& cursor);
    ~Depth() { --cursor_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    TextCursor& cursor_;
  };

 private:
  void tokenize(std::string_view text);
  void tokenize_line(const std::string& line, int number);  ///< from 1

  std::string file_;
  Diagnostics& diagnostics_;
  std::vector<std::string> lines_;
  std::vector<Token> tokens_;  ///< without notes; the last one is `end`
  std::vector<Token> notes_;
  std::size_t next_ = 0;
  int failing_line_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

/// `name` as it is written in a text: bare if it is an identifier and none of the reserved words, else quoted.
std::string quoted_name(std::string_view name);
std::string quoted(std::string_view text);
/// Shortest text that reads back as the same number; always recognisable as floating-point.
std::string number_text(double value);

/// "= [1, 2, 3]" with the elements of a tensor, or "hash \"0123456789abcdef\"" (xxHash64 of its bytes) if it has more
/// than `max_elements`.
std::string value_text(const Tensor& value, std::int64_t max_elements);
std::string hash_text(const Tensor& value);

}  // namespace stowage
