// SPDX-License-Identifier: Apache-2.0
// What a user did that cannot be done: code, location, reason, remedy. Stages add to a Diagnostics and go on as
// long as that makes sense, so that one run reports several mistakes; Result<T> only says "already reported".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/check.h"

namespace stowage {

enum class Severity { error, warning };

/// Where in the user's input. Only `file` is always meaningful; line and column count from 1, 0 means unknown.
/// `object` names a thing inside a binary file, for instance "node conv1 (Conv)".
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
  int end_column = 0;  ///< one past the last underlined column
  std::string object = {};
};

/// Messages are lower case without a full stop and say what was found and what was wanted.
struct Diagnostic {
  Severity severity = Severity::error;
  std::string code;  ///< stable, kebab-case, for instance "unknown-key"
  SourceLocation location;
  std::string message;
  std::string remedy = {};              ///< what to do about it; may be empty
  std::vector<std::string> notes = {};  ///< further lines
  std::string source_line = {};         ///< text of location.line where it is known; a caret is drawn below it
};

class Diagnostics {
 public:
  void add(Diagnostic diagnostic);
  void error(std::string code, SourceLocation location, std::string message, std::string remedy = {});
  void warning(std::string code, SourceLocation location, std::string message, std::string remedy = {});
  void append(const Diagnostics& other);

  [[nodiscard]] bool has_errors() const;
  [[nodiscard]] std::span<const Diagnostic> entries() const { return entries_; }

 private:
  std::vector<Diagnostic> entries_;
};

/// "file:line:col: error: message [code]", the source line with carets, notes and the remedy.
std::string format_diagnostic(const Diagnostic& diagnostic);
std::string format_diagnostics(const Diagnostics& diagnostics);
/// The first error in one sentence: "fused operator conv1: what is wrong"; "" without one.
std::string first_error(const Diagnostics& diagnostics);

/// The candidate nearest to a misspelt name (edit distance at most a third of its length), or nothing.
std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates);
/// "did you mean 'xyz'?" or the list of what there is, for use as a remedy.
std::string suggest_name(std::string_view name, std::span<const std::string> candidates);

struct Failed {};  ///< the reason is in the Diagnostics

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Failed) {}                              // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return value_.has_value(); }
  T& operator*() & { return get(); }
  const T& operator*() const& { return const_cast<Result&>(*this).get(); }
  T&& operator*() && { return std::move(get()); }
  T* operator->() { return &get(); }
  const T* operator->() const { return &const_cast<Result&>(*this).get(); }

 private:
  T& get() {
    check(value_.has_value(), "value of a failed Result was used");
    return *value_;
  }
  std::optional<T> value_;
};

}  // namespace stowage
