// SPDX-License-Identifier: Apache-2.0
// Writes C text line by line: indentation, origins of lines, and definitions that vanish where nothing uses them (the
// emitted code compiles without "unused variable").
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stowage {

/// Gives out C identifiers: each once, none of C's own words.
class IdentifierPool {
 public:
  /// `wanted` made a valid identifier and, if it is taken, numbered: "x", "x_2", "x_3" …
  std::string take(std::string_view wanted);

 private:
  std::set<std::string, std::less<>> taken_;
};

/// `text` with every character that an identifier cannot hold replaced by '_'.
std::string c_identifier(std::string_view text);

struct CLine {
  std::string text;  ///< without indentation
  int depth = 0;
  int statement = -1;    ///< Stmt::id whose work the line does, or -1: kernels that differ in it do not share a text
  int written_for = -1;  ///< Stmt::id for which it was written, with comments, definitions and braces
  std::string defines;   ///< name of the variable that the line defines and that may go if it is not used
};

class CWriter {
 public:
  /// What comes is written for a statement. Returns the one before, to go back to; -1 is none.
  int write_for(int statement) { return std::exchange(written_for_, statement); }
  void line(std::string text, int statement = -1);
  /// A definition, left out if `name` does not occur in a later line. Names defined so must be unique in the text.
  void define(std::string name, std::string text);
  void comment(std::string_view text);
  void blank() { line(""); }
  /// A line that ends in "{", and everything until close() deeper.
  void open(std::string text, int statement = -1);
  /// "} else {" between the two.
  void turn(std::string text);
  void close(std::string text = "}");
  void append(const CWriter& other);

  /// The lines that remain once unused definitions are gone.
  [[nodiscard]] std::vector<CLine> lines() const;

 private:
  std::vector<CLine> lines_;
  int depth_ = 0;
  int written_for_ = -1;
};

/// Text of lines, two blanks a level.
std::string to_text(const std::vector<CLine>& lines);

/// `text` as the inside of a C comment: nothing that would end it or open another, no control characters.
std::string comment_text(std::string_view text);

}  // namespace stowage
