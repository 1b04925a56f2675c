// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/expression_parser.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace stowage {
namespace {

std::int64_t largest_number(const IndexExpr& e) {
  std::int64_t largest = std::abs(e.constant());
  for (const IndexTerm& term : e.terms()) largest = std::max(largest, std::abs(term.coefficient));
  return largest;
}

class IndexParser {
 public:
  IndexParser(TextCursor& cursor, const ExpressionNames& names) : cursor_(cursor), names_(names) {}

  IndexExpr sum() {
    const TextCursor::Depth depth(cursor_);
    const Token where = cursor_.peek();
    IndexExpr total;
    bool negative = cursor_.accept("-");
    for (;;) {
      const IndexExpr more = product();
      total += negative ? more * -1 : more;
      if (largest_number(total) > max_index_number) too_large(where);
      if (cursor_.accept("+")) {
        negative = false;
      } else if (cursor_.accept("-")) {
        negative = true;
      } else {
        return total;
      }
    }
  }

  IndexExpr slot() {
    const std::size_t begin = cursor_.position();
    const Token first = cursor_.peek();
    if (first.kind != Token::Kind::integer && !cursor_.at("-")) {
      const IndexExpr e = factor();
      if (cursor_.accept("%")) return remainder(e, divisor());
      cursor_.seek(begin);
    }
    return sum();
  }

 private:
  [[noreturn]] void too_large(const Token& where) {
    cursor_.fail(where, "number-too-large", fmt::format("index numbers go up to {}", max_index_number));
  }

  IndexExpr product() {
    if (cursor_.peek().kind != Token::Kind::integer) return factor();
    const Token where = cursor_.peek();
    const std::int64_t number = positive();
    if (!cursor_.accept("*")) return number;
    const IndexExpr e = factor();
    if (static_cast<long double>(number) * static_cast<long double>(largest_number(e)) >
        static_cast<long double>(max_index_number)) {
      too_large(where);
    }
    return e * number;
  }

  std::int64_t positive() {
    const Token where = cursor_.peek();
    const std::int64_t number = cursor_.expect_integer("a number");
    if (number > max_index_number) too_large(where);
    return number;
  }

  std::int64_t divisor() {
    const Token where = cursor_.peek();
    const std::int64_t number = positive();
    if (number <= 0) cursor_.fail(where, "bad-divisor", "a divisor must be positive");
    return number;
  }

  IndexExpr factor() {
    const Token where = cursor_.peek();
    if (cursor_.accept("(")) {
      IndexExpr e = sum();
      if (cursor_.accept("/"))
        e = floor_div(e, divisor());
      else if (cursor_.accept("%"))
        e = remainder(e, divisor());
      cursor_.expect(")");
      return e;
    }
    if (cursor_.accept("@")) {
      const std::int64_t read = positive();
      cursor_.expect("[");
      const std::int64_t bound = divisor();
      cursor_.expect("]");
      if (read > 1 << 20) too_large(where);
      return tensor_value(ReadId(static_cast<std::size_t>(read)), bound);
    }
    if (cursor_.at("(", 1) && (cursor_.at("min") || cursor_.at("max"))) {
      const bool smaller = cursor_.take().text == "min";
      cursor_.expect("(");
      const IndexExpr a = sum();
      cursor_.expect(",");
      const IndexExpr b = sum();
      cursor_.expect(")");
      return smaller ? minimum(a, b) : maximum(a, b);
    }
    const std::string name = cursor_.expect_name("a variable");
    if (cursor_.accept("[")) {
      const auto table = names_.tables.find(name);
      if (table == names_.tables.end())
        cursor_.fail(where, "unknown-table", fmt::format("there is no table '{}'", name));
      const IndexExpr e = sum();
      cursor_.expect("]");
      const auto size = static_cast<std::int64_t>(table->second->values.size());
      if (e.is_constant() && (e.constant() < 0 || e.constant() >= size)) {
        cursor_.fail(where, "outside-table", fmt::format("table '{}' has {} entries", name, size));
      }
      return lookup(table->second, e);
    }
    const auto variable = names_.variables.find(name);
    if (variable == names_.variables.end()) {
      std::vector<std::string> known;
      for (const auto& [other, id] : names_.variables) known.push_back(other);
      cursor_.fail(where, "unknown-variable", fmt::format("there is no variable '{}'", name),
                   suggest_name(name, known));
    }
    return variable->second;
  }

  TextCursor& cursor_;
  const ExpressionNames& names_;
};

/// Largest magnitude an expression can have.
long double magnitude(const IndexExpr& e, const VariableRange& range) {
  const auto of_interval = [](std::int64_t low, std::int64_t high) {
    return std::max(std::fabs(static_cast<long double>(low)), std::fabs(static_cast<long double>(high)));
  };
  long double sum = std::fabs(static_cast<long double>(e.constant()));
  for (const IndexTerm& term : e.terms()) {
    const IndexAtom& atom = term.atom;
    long double of_atom = 0;
    if (atom.kind == IndexAtom::Kind::variable) {
      const Interval interval = range(atom.variable);
      of_atom = of_interval(interval.low, interval.high);
    }
    if (atom.args) {
      for (const IndexExpr& arg : *atom.args) of_atom = std::max(of_atom, magnitude(arg, range));
    }
    if (atom.table) {
      for (const std::int64_t value : atom.table->values) of_atom = std::max(of_atom, of_interval(value, value));
    }
    of_atom = std::max(of_atom, of_interval(atom.number, atom.bound));
    sum += std::fabs(static_cast<long double>(term.coefficient)) * of_atom;
  }
  return sum;
}

class ScalarParser {
 public:
  ScalarParser(TextCursor& cursor, const ExpressionNames& names, const IdVector<ReadId, ElementType>& read_types,
               const ElementType* accumulator)
      : cursor_(cursor), names_(names), read_types_(read_types), accumulator_(accumulator) {}

  ScalarExpr expression() {
    const TextCursor::Depth depth(cursor_);
    const Token where = cursor_.peek();
    if (cursor_.accept("(")) return infix();
    if (cursor_.accept("#")) {
      const std::int64_t read = cursor_.expect_integer("a read's number");
      if (read < 0 || read >= static_cast<std::int64_t>(read_types_.size())) {
        cursor_.fail(where, "unknown-read", fmt::format("the stage has no read #{}", read));
      }
      const ReadId id(static_cast<std::size_t>(read));
      return scalar_read(read_types_[id], id);
    }
    if (where.kind != Token::Kind::name || cursor_.at("inf") || cursor_.at("nan")) return literal();
    if (cursor_.accept("acc")) {
      if (accumulator_ == nullptr) cursor_.fail(where, "unexpected-token", "only a finish has an accumulator");
      return scalar_accumulator(*accumulator_);
    }
    return call(where);
  }

 private:
  ScalarExpr infix() {
    ScalarExpr a = expression();
    const Token where = cursor_.peek();
    if (const auto op = find_binary(where.text); op && is_infix(*op) && cursor_.accept(where.text)) {
      ScalarExpr b = expression();
      cursor_.expect(")");
      return binary(where, *op, std::move(a), std::move(b));
    }
    cursor_.fail(where, "unexpected-token", fmt::format("found '{}', an operator was wanted", where.text));
  }

  ScalarExpr binary(const Token& where, BinaryOp op, ScalarExpr a, ScalarExpr b) {
    same_type(where, a, b);
    return scalar_binary(op, std::move(a), std::move(b));
  }

  void same_type(const Token& where, const ScalarExpr& a, const ScalarExpr& b) {
    if (a->type == b->type) return;
    cursor_.fail(where, "type-mismatch",
                 fmt::format("operands of types {} and {}", name_of(a->type), name_of(b->type)));
  }

  ScalarExpr literal() {
    const bool negative = cursor_.at("-");
    const Token& number = cursor_.peek(negative ? 1 : 0);
    const bool is_integer = number.kind == Token::Kind::integer || number.text == "9223372036854775808";
    const std::int64_t integer = is_integer ? cursor_.expect_integer("a number") : 0;
    const double real = is_integer ? 0 : cursor_.expect_number("a number");
    if (is_integer) {
      cursor_.expect(":");
      return scalar_integer(cursor_.expect_type(), integer);
    }
    return scalar_constant(cursor_.accept(":") ? cursor_.expect_type() : ElementType::f32, real);
  }

  /// The type in "cast_f32" or "index_i64".
  static std::optional<ElementType> suffix(const std::string& name, std::string_view prefix) {
    if (name.compare(0, prefix.size(), prefix) != 0) return std::nullopt;
    return element_type_named(std::string_view(name).substr(prefix.size()));
  }

  ScalarExpr call(const Token& where) {
    const std::string name = cursor_.take().text;
    cursor_.expect("(");
    ScalarExpr result;
    if (const auto type = suffix(name, "index_")) {
      result = scalar_index(*type, parse_index(cursor_, names_));
    } else if (const auto cast_type = suffix(name, "cast_")) {
      result = scalar_cast(*cast_type, expression());
    } else if (name == "select") {
      ScalarExpr condition = expression();
      if (condition->type != ElementType::boolean) {
        cursor_.fail(where, "type-mismatch", "the condition of a select is a bool");
      }
      cursor_.expect(",");
      ScalarExpr a = expression();
      cursor_.expect(",");
      ScalarExpr b = expression();
      same_type(where, a, b);
      result = scalar_select(std::move(condition), std::move(a), std::move(b));
    } else {
      result = function(where, name);
    }
    cursor_.expect(")");
    return result;
  }

  ScalarExpr function(const Token& where, const std::string& name) {
    if (const auto op = find_unary(name)) {
      ScalarExpr a = expression();
      if (*op == UnaryOp::logical_not && a->type != ElementType::boolean) {
        cursor_.fail(where, "type-mismatch", "not applies to a bool");
      }
      return scalar_unary(*op, std::move(a));
    }
    if (const auto op = find_binary(name); op && !is_infix(*op)) {
      ScalarExpr a = expression();
      cursor_.expect(",");
      ScalarExpr b = expression();
      return binary(where, *op, std::move(a), std::move(b));
    }
    cursor_.fail(where, "unknown-function", fmt::format("there is no function '{}'", name));
  }

  TextCursor& cursor_;
  const ExpressionNames& names_;
  const IdVector<ReadId, ElementType>& read_types_;
  const ElementType* accumulator_;
};

}  // namespace

IndexExpr parse_index(TextCursor& cursor, const ExpressionNames& names) { return IndexParser(cursor, names).sum(); }

IndexExpr parse_slot(TextCursor& cursor, const ExpressionNames& names) { return IndexParser(cursor, names).slot(); }

Interval parse_bounds(TextCursor& cursor, const Token& where, const IndexExpr& e, const VariableRange& range) {
  if (magnitude(e, range) > 1e18L)
    cursor.fail(where, "number-too-large", "the values of this expression are too large");
  return bounds(e, range);
}

ScalarExpr parse_scalar(TextCursor& cursor, const ExpressionNames& names,
                        const IdVector<ReadId, ElementType>& read_types, const ElementType* accumulator) {
  return ScalarParser(cursor, names, read_types, accumulator).expression();
}

}  // namespace stowage
