// SPDX-License-Identifier: Apache-2.0
// Integer index expressions: affine sums of variables and of a few quasi-affine atoms.
//
//   e ::= constant + sum(coefficient * atom)
//   atom ::= variable | floor(e / c) | e mod c | min(e, e) | max(e, e) | table[e] | value of an integer tensor
//
// Always in normal form (equal atoms merged, ordered by first use of kind and content, zero terms dropped), so that
// a difference like (s*(x0 + i) + r0) - (s*x0 + r0) simplifies to s*i by itself and == is structural equality.
// Division and remainder round towards minus infinity; divisors are positive.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ids.h"

namespace stowage {

class IndexExpr;

/// A constant lookup table, for instance the source row of every output row of a Resize.
/// Looking up outside the table is a fault; tables are made to cover their argument's range.
struct IndexTable {
  std::string name;
  std::vector<std::int64_t> values;
};

struct IndexAtom {
  enum class Kind : std::uint8_t { variable, floor_div, remainder, minimum, maximum, table, tensor_value };
  Kind kind = Kind::variable;
  VarId variable;           ///< variable
  std::int64_t number = 0;  ///< divisor; for tensor_value the index of the Stage's read
  std::int64_t bound = 0;   ///< tensor_value: values lie in [-bound, bound); negative ones count from the end
  std::shared_ptr<const std::vector<IndexExpr>>
      args;  ///< one argument, two for minimum and maximum, none for variable and tensor_value
  std::shared_ptr<const IndexTable> table;  ///< table

  [[nodiscard]] ReadId read() const { return ReadId(static_cast<std::size_t>(number)); }  ///< tensor_value
};

struct IndexTerm {
  std::int64_t coefficient = 1;
  IndexAtom atom;
};

/// Closed integer interval.
struct Interval {
  std::int64_t low = 0;
  std::int64_t high = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

class IndexExpr {
 public:
  IndexExpr() = default;
  IndexExpr(std::int64_t constant) : constant_(constant) {}  // NOLINT(google-explicit-constructor)
  IndexExpr(VarId variable);                                 // NOLINT(google-explicit-constructor)
  static IndexExpr of_atom(IndexAtom atom);

  [[nodiscard]] std::int64_t constant() const { return constant_; }
  [[nodiscard]] std::span<const IndexTerm> terms() const {
    return terms_ ? std::span<const IndexTerm>(terms_.get(), count_) : std::span<const IndexTerm>();
  }
  [[nodiscard]] bool is_constant() const { return terms().empty(); }
  /// True if it is exactly one variable with coefficient 1 and no constant.
  [[nodiscard]] bool is_variable(VarId variable) const;
  /// True if every atom is a variable.
  [[nodiscard]] bool is_affine() const;
  /// Coefficient of a variable among the top-level terms.
  [[nodiscard]] std::int64_t coefficient_of(VarId variable) const;

  IndexExpr& operator+=(const IndexExpr& other);
  friend IndexExpr operator+(IndexExpr a, const IndexExpr& b) { return a += b; }
  friend IndexExpr operator-(IndexExpr a, const IndexExpr& b) { return a += b * -1; }
  friend IndexExpr operator*(IndexExpr a, std::int64_t factor);
  friend bool operator==(const IndexExpr& a, const IndexExpr& b);

 private:
  std::int64_t constant_ = 0;
  std::size_t count_ = 0;
  std::shared_ptr<const IndexTerm[]> terms_;  ///< never changed, so that copies share them: nests are mostly copies
};

IndexExpr floor_div(const IndexExpr& e, std::int64_t divisor);
IndexExpr remainder(const IndexExpr& e, std::int64_t divisor);
IndexExpr minimum(const IndexExpr& a, const IndexExpr& b);
IndexExpr maximum(const IndexExpr& a, const IndexExpr& b);
IndexExpr lookup(std::shared_ptr<const IndexTable> table, const IndexExpr& e);
/// The value that a read of the enclosing Stage has at this point; -bound <= value < bound, negative
/// values count from the end (ONNX Gather).
IndexExpr tensor_value(ReadId read, std::int64_t bound);

/// Every variable that occurs anywhere in the expression, in ascending order.
std::set<VarId> variables_of(const IndexExpr& e);
/// Whether one of them is such; asked no further than the first.
bool any_variable(const IndexExpr& e, const std::function<bool(VarId)>& is_such);
/// Whether one occurs.
bool mentions(const IndexExpr& e, VarId variable);
/// Reads (of the Stage) whose value occurs in the expression.
std::set<ReadId> tensor_values_of(const IndexExpr& e);

/// True if a table occurs anywhere in the expression.
bool has_table(const IndexExpr& e);

using VariableValue = std::function<std::int64_t(VarId)>;
using ReadValue = std::function<std::int64_t(ReadId)>;
using VariableRange = std::function<Interval(VarId)>;

std::int64_t evaluate(const IndexExpr& e, const VariableValue& variable, const ReadValue& read = {});
/// Bounds that contain every value (exact for affine expressions over independent variables).
Interval bounds(const IndexExpr& e, const VariableRange& range);
/// Replaces variables; `replacement` returns the expression for a variable (itself to keep it).
IndexExpr substitute(const IndexExpr& e, const std::function<IndexExpr(VarId)>& replacement);
/// Replaces tensor values; `replacement` returns the expression for the atom of one.
IndexExpr replace_values(const IndexExpr& e, const std::function<IndexExpr(const IndexAtom&)>& replacement);
/// Renumbers the reads that tensor_value atoms refer to.
IndexExpr renumber_reads(const IndexExpr& e, const std::function<ReadId(ReadId)>& replacement);

/// The sum as text, its atoms spelt by `atom` and factors joined to them by `times`. Positive terms come first, so that
/// "H - y" does not print as "-y + H".
std::string sum_text(const IndexExpr& e, const std::function<std::string(const IndexAtom&)>& atom,
                     std::string_view times);
/// Text such as "2*yo + ry - 1", "(x / 4)", "(x % 4)", "min(a, b)", "rows[x]"; tensor values print as "@k[bound]".
/// The form is also valid C, given that division and remainder are only applied to non-negative values there.
std::string to_text(const IndexExpr& e, const std::function<std::string(VarId)>& name);

std::int64_t floor_div(std::int64_t a, std::int64_t b);
std::int64_t ceil_div(std::int64_t a, std::int64_t b);
std::int64_t floor_mod(std::int64_t a, std::int64_t b);

}  // namespace stowage
