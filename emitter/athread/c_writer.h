// SPDX-License-Identifier: Apache-2.0
// Writes C text line by line: indentation, origins of lines, and definitions that vanish where nothing uses them (the
// emitted code compiles without "unused variable").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/identifiers.h"
#include "core/ids.h"

namespace stowage {

/// In front of every identifier in emitted code that is made of a name from the model. No name of C, of its library, of
/// Athread, of a compiler or of this emitter begins so, and none is reserved that does.
constexpr std::string_view model_prefix = "t_";

/// `text` as a part of an identifier or of a file's name: at most `most` characters, of a longer one the beginning and
/// the end. C promises that the first 63 characters of a name count, and there are prefixes and numbers besides.
std::string c_name(std::string_view text, std::size_t maximum = 44);

/// Gives out C identifiers, each once.
class IdentifierPool {
 public:
  /// A name of our own, made of the names that the operators' definitions give their axes. If it is taken or one of C's
  /// words it is numbered: "x", "x_2", "x_3" …
  std::string take(const std::string& wanted);
  /// A name that came with the model, or is made of one: model_prefix and what of it an identifier can hold.
  std::string take_of_model(std::string_view wanted);

 private:
  UniqueNames names_;
};

struct CLine {
  std::string text;  ///< without indentation
  int depth = 0;
  std::optional<StatementId> statement;    ///< whose work the line does: kernels that differ in it do not share a text
  std::optional<StatementId> written_for;  ///< with comments, definitions and braces
  std::string defines;  ///< name of the variable that the line defines and that may go if it is not used
};

class CWriter {
 public:
  /// What comes is written for a statement. Returns the one before, to go back to.
  std::optional<StatementId> write_for(std::optional<StatementId> statement) {
    return std::exchange(written_for_, statement);
  }
  void line(std::string text, std::optional<StatementId> statement = std::nullopt);
  /// A definition, left out if `name` does not occur in a later line. Names defined so must be unique in the text.
  void define(std::string name, std::string text);
  void comment(std::string_view text);
  void blank() { line(""); }
  /// A line that ends in "{", and everything until close() deeper.
  void open(std::string text, std::optional<StatementId> statement = std::nullopt);
  /// "} else {" between the two.
  void else_branch(std::string text);
  void close(std::string text = "}");
  void append(const CWriter& other);

  /// The lines that remain once unused definitions are gone.
  [[nodiscard]] std::vector<CLine> lines() const;

 private:
  std::vector<CLine> lines_;
  int depth_ = 0;
  std::optional<StatementId> written_for_;
};

/// Text of lines, two blanks a level.
std::string to_text(const std::vector<CLine>& lines);

}  // namespace stowage
