// SPDX-License-Identifier: Apache-2.0
#include "core/index_expr.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "core/check.h"

namespace stowage {
namespace {

std::strong_ordering compare(const IndexExpr& a, const IndexExpr& b);

std::strong_ordering compare(const IndexAtom& a, const IndexAtom& b) {
  if (const auto c = a.kind <=> b.kind; c != 0) return c;
  if (const auto c = a.variable <=> b.variable; c != 0) return c;
  if (const auto c = a.number <=> b.number; c != 0) return c;
  if (const auto c = a.bound <=> b.bound; c != 0) return c;
  if (a.table != b.table) {
    if (const auto c = a.table->name <=> b.table->name; c != 0) return c;
    if (a.table->values != b.table->values) {
      return std::lexicographical_compare(a.table->values.begin(), a.table->values.end(), b.table->values.begin(),
                                          b.table->values.end())
                 ? std::strong_ordering::less
                 : std::strong_ordering::greater;
    }
  }
  const std::size_t size_a = a.args ? a.args->size() : 0;
  const std::size_t size_b = b.args ? b.args->size() : 0;
  if (const auto c = size_a <=> size_b; c != 0) return c;
  for (std::size_t i = 0; i < size_a; ++i) {
    if (const auto c = compare((*a.args)[i], (*b.args)[i]); c != 0) return c;
  }
  return std::strong_ordering::equal;
}

std::strong_ordering compare(const IndexExpr& a, const IndexExpr& b) {
  if (const auto c = a.constant() <=> b.constant(); c != 0) return c;
  if (const auto c = a.terms().size() <=> b.terms().size(); c != 0) return c;
  for (std::size_t i = 0; i < a.terms().size(); ++i) {
    if (const auto c = a.terms()[i].coefficient <=> b.terms()[i].coefficient; c != 0) return c;
    if (const auto c = compare(a.terms()[i].atom, b.terms()[i].atom); c != 0) return c;
  }
  return std::strong_ordering::equal;
}

IndexExpr of_args(IndexAtom::Kind kind, std::vector<IndexExpr> args, std::int64_t number = 0) {
  IndexAtom atom;
  atom.kind = kind;
  atom.number = number;
  atom.args = std::make_shared<const std::vector<IndexExpr>>(std::move(args));
  return IndexExpr::of_atom(std::move(atom));
}

/// Rebuilds an atom with new arguments through the simplifying constructors.
IndexExpr rebuilt(const IndexAtom& atom, const std::function<IndexExpr(const IndexExpr&)>& map) {
  switch (atom.kind) {
    case IndexAtom::Kind::variable:
    case IndexAtom::Kind::tensor_value: return IndexExpr::of_atom(atom);
    case IndexAtom::Kind::floor_div: return floor_div(map((*atom.args)[0]), atom.number);
    case IndexAtom::Kind::remainder: return remainder(map((*atom.args)[0]), atom.number);
    case IndexAtom::Kind::minimum: return minimum(map((*atom.args)[0]), map((*atom.args)[1]));
    case IndexAtom::Kind::maximum: return maximum(map((*atom.args)[0]), map((*atom.args)[1]));
    case IndexAtom::Kind::table: return lookup(atom.table, map((*atom.args)[0]));
  }
  fail_check("unknown index atom");
}

}  // namespace

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }
std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return a - floor_div(a, b) * b; }

IndexExpr::IndexExpr(VarId variable) : count_(1) {
  const auto term = std::make_shared<IndexTerm[]>(1);
  term[0].atom.variable = variable;
  terms_ = term;
}

IndexExpr IndexExpr::of_atom(IndexAtom atom) {
  const auto term = std::make_shared<IndexTerm[]>(1);
  term[0].atom = std::move(atom);
  IndexExpr e;
  e.count_ = 1;
  e.terms_ = term;
  return e;
}

bool IndexExpr::is_variable(VarId variable) const {
  return constant_ == 0 && terms().size() == 1 && terms_[0].coefficient == 1 &&
         terms_[0].atom.kind == IndexAtom::Kind::variable && terms_[0].atom.variable == variable;
}

bool IndexExpr::is_affine() const {
  return std::all_of(terms().begin(), terms().end(),
                     [](const IndexTerm& t) { return t.atom.kind == IndexAtom::Kind::variable; });
}

std::int64_t IndexExpr::coefficient_of(VarId variable) const {
  for (const IndexTerm& term : terms()) {
    if (term.atom.kind == IndexAtom::Kind::variable && term.atom.variable == variable) return term.coefficient;
  }
  return 0;
}

IndexExpr& IndexExpr::operator+=(const IndexExpr& other) {
  constant_ += other.constant_;
  const std::span<const IndexTerm> mine = terms();
  const std::span<const IndexTerm> others = other.terms();
  if (others.empty()) return *this;
  if (mine.empty()) {
    terms_ = other.terms_;
    count_ = others.size();
    return *this;
  }
  // Both are in order, and so is the sum: equal atoms become one term, or none where they cancel.
  const auto sum = std::make_shared<IndexTerm[]>(mine.size() + others.size());
  std::size_t count = 0;
  auto a = mine.begin();
  auto b = others.begin();
  while (a != mine.end() || b != others.end()) {
    const auto order = a == mine.end()     ? std::strong_ordering::greater
                       : b == others.end() ? std::strong_ordering::less
                                           : compare(a->atom, b->atom);
    IndexTerm& term = sum[count];
    term = order <= 0 ? *a : *b;
    if (order == 0) term.coefficient += b->coefficient;
    if (term.coefficient != 0) ++count;
    if (order <= 0) ++a;
    if (order >= 0) ++b;
  }
  terms_ = sum;
  count_ = count;
  return *this;
}

IndexExpr operator*(IndexExpr a, std::int64_t factor) {
  if (factor == 0) return {};
  a.constant_ *= factor;
  if (factor == 1 || a.is_constant()) return a;
  const auto product = std::make_shared<IndexTerm[]>(a.count_);
  for (std::size_t t = 0; t < a.count_; ++t) product[t] = {a.terms_[t].coefficient * factor, a.terms_[t].atom};
  a.terms_ = product;
  return a;
}

bool operator==(const IndexExpr& a, const IndexExpr& b) {
  return a.constant_ == b.constant_ && (a.terms_ == b.terms_ || compare(a, b) == 0);
}

IndexExpr floor_div(const IndexExpr& e, std::int64_t divisor) {
  check(divisor > 0, "floor_div by a number that is not positive");
  if (divisor == 1) return e;
  // Terms divisible by the divisor leave the division: floor((c*d + e)/d) = c + floor(e/d).
  IndexExpr outside = floor_div(e.constant(), divisor);
  IndexExpr inside = floor_mod(e.constant(), divisor);
  for (const IndexTerm& term : e.terms()) {
    if (term.coefficient % divisor == 0) {
      outside += IndexExpr::of_atom(term.atom) * (term.coefficient / divisor);
    } else {
      inside += IndexExpr::of_atom(term.atom) * term.coefficient;
    }
  }
  if (inside.is_constant()) return outside;
  return outside + of_args(IndexAtom::Kind::floor_div, {inside}, divisor);
}

IndexExpr remainder(const IndexExpr& e, std::int64_t divisor) {
  check(divisor > 0, "remainder by a number that is not positive");
  if (divisor == 1) return 0;
  IndexExpr inside = floor_mod(e.constant(), divisor);
  for (const IndexTerm& term : e.terms()) {
    if (term.coefficient % divisor != 0) inside += IndexExpr::of_atom(term.atom) * term.coefficient;
  }
  if (inside.is_constant()) return floor_mod(inside.constant(), divisor);
  return of_args(IndexAtom::Kind::remainder, {inside}, divisor);
}

namespace {

/// What is left of a - b where that is a number; terms are in order, so that they cancel if they are the same.
std::optional<std::int64_t> constant_difference(const IndexExpr& a, const IndexExpr& b) {
  const std::span<const IndexTerm> mine = a.terms();
  const std::span<const IndexTerm> others = b.terms();
  const auto is_same = [](const IndexTerm& m, const IndexTerm& o) {
    return m.coefficient == o.coefficient && compare(m.atom, o.atom) == 0;
  };
  if (mine.size() != others.size()) return std::nullopt;
  if (mine.data() != others.data() && !std::equal(mine.begin(), mine.end(), others.begin(), is_same))
    return std::nullopt;
  return a.constant() - b.constant();
}

/// Whether e is the smaller or the larger of two numbers, and one of them says already that it is no larger, or no
/// smaller, than `other`.
bool is_bounded_by(const IndexExpr& e, IndexAtom::Kind kind, const IndexExpr& other) {
  if (e.terms().size() != 1 || e.terms()[0].coefficient != 1 || e.terms()[0].atom.kind != kind) return false;
  const auto& args = *e.terms()[0].atom.args;
  return std::any_of(args.begin(), args.end(), [&](const IndexExpr& arg) {
    const auto above = constant_difference(arg, other);
    if (!above) return false;
    return kind == IndexAtom::Kind::minimum ? *above + e.constant() <= 0 : *above + e.constant() >= 0;
  });
}

/// The smaller or the larger of two.
IndexExpr chosen_of(IndexAtom::Kind kind, const IndexExpr& a, const IndexExpr& b) {
  if (const auto difference = constant_difference(a, b))
    return (*difference <= 0) == (kind == IndexAtom::Kind::minimum) ? a : b;
  if (is_bounded_by(a, kind, b)) return a;
  if (is_bounded_by(b, kind, a)) return b;
  return compare(b, a) < 0 ? of_args(kind, {b, a}) : of_args(kind, {a, b});
}

}  // namespace

IndexExpr minimum(const IndexExpr& a, const IndexExpr& b) { return chosen_of(IndexAtom::Kind::minimum, a, b); }
IndexExpr maximum(const IndexExpr& a, const IndexExpr& b) { return chosen_of(IndexAtom::Kind::maximum, a, b); }

IndexExpr lookup(std::shared_ptr<const IndexTable> table, const IndexExpr& e) {
  // One that there is not stays an expression, which may stand where it is never asked for.
  const auto entries = static_cast<std::int64_t>(table->values.size());
  if (e.is_constant() && e.constant() >= 0 && e.constant() < entries)
    return table->values[static_cast<std::size_t>(e.constant())];
  IndexAtom atom;
  atom.kind = IndexAtom::Kind::table;
  atom.args = std::make_shared<const std::vector<IndexExpr>>(std::vector<IndexExpr>{e});
  atom.table = std::move(table);
  return IndexExpr::of_atom(std::move(atom));
}

IndexExpr tensor_value(ReadId read, std::int64_t bound) {
  IndexAtom atom;
  atom.kind = IndexAtom::Kind::tensor_value;
  atom.number = static_cast<std::int64_t>(read.index());
  atom.bound = bound;
  return IndexExpr::of_atom(std::move(atom));
}

namespace {

void collect(const IndexExpr& e, const std::function<void(const IndexAtom&)>& visit) {
  for (const IndexTerm& term : e.terms()) {
    visit(term.atom);
    if (term.atom.args) {
      for (const IndexExpr& arg : *term.atom.args) collect(arg, visit);
    }
  }
}

}  // namespace

std::set<VarId> variables_of(const IndexExpr& e) {
  std::set<VarId> found;
  collect(e, [&](const IndexAtom& atom) {
    if (atom.kind == IndexAtom::Kind::variable) found.insert(atom.variable);
  });
  return found;
}

bool any_variable(const IndexExpr& e, const std::function<bool(VarId)>& is_such) {
  return std::any_of(e.terms().begin(), e.terms().end(), [&](const IndexTerm& term) {
    if (term.atom.kind == IndexAtom::Kind::variable) return is_such(term.atom.variable);
    return term.atom.args && std::any_of(term.atom.args->begin(), term.atom.args->end(),
                                         [&](const IndexExpr& arg) { return any_variable(arg, is_such); });
  });
}

bool mentions(const IndexExpr& e, VarId variable) {
  return any_variable(e, [&](VarId v) { return v == variable; });
}

std::set<ReadId> tensor_values_of(const IndexExpr& e) {
  std::set<ReadId> found;
  collect(e, [&](const IndexAtom& atom) {
    if (atom.kind == IndexAtom::Kind::tensor_value) found.insert(atom.read());
  });
  return found;
}

bool has_table(const IndexExpr& e) {
  bool found = false;
  collect(e, [&](const IndexAtom& atom) { found = found || atom.kind == IndexAtom::Kind::table; });
  return found;
}

std::int64_t evaluate(const IndexExpr& e, const VariableValue& variable, const ReadValue& read) {
  std::int64_t sum = e.constant();
  for (const IndexTerm& term : e.terms()) {
    const IndexAtom& atom = term.atom;
    const auto arg = [&](std::size_t i) { return evaluate((*atom.args)[i], variable, read); };
    std::int64_t value = 0;
    switch (atom.kind) {
      case IndexAtom::Kind::variable: value = variable(atom.variable); break;
      case IndexAtom::Kind::floor_div: value = floor_div(arg(0), atom.number); break;
      case IndexAtom::Kind::remainder: value = floor_mod(arg(0), atom.number); break;
      case IndexAtom::Kind::minimum: value = std::min(arg(0), arg(1)); break;
      case IndexAtom::Kind::maximum: value = std::max(arg(0), arg(1)); break;
      case IndexAtom::Kind::table: value = atom.table->values.at(static_cast<std::size_t>(arg(0))); break;
      case IndexAtom::Kind::tensor_value:
        check(static_cast<bool>(read), "an index needs a tensor's value, and none was given");
        value = read(atom.read());
        if (value < 0) value += atom.bound;
        break;
    }
    sum += term.coefficient * value;
  }
  return sum;
}

Interval bounds(const IndexExpr& e, const VariableRange& range) {
  Interval sum{e.constant(), e.constant()};
  for (const IndexTerm& term : e.terms()) {
    const IndexAtom& atom = term.atom;
    const auto arg = [&](std::size_t i) { return bounds((*atom.args)[i], range); };
    Interval value;
    switch (atom.kind) {
      case IndexAtom::Kind::variable: value = range(atom.variable); break;
      case IndexAtom::Kind::floor_div: {
        const Interval a = arg(0);
        value = {floor_div(a.low, atom.number), floor_div(a.high, atom.number)};
        break;
      }
      case IndexAtom::Kind::remainder: {
        const Interval a = arg(0);
        if (floor_div(a.low, atom.number) == floor_div(a.high, atom.number)) {
          value = {floor_mod(a.low, atom.number), floor_mod(a.high, atom.number)};
        } else {
          value = {0, atom.number - 1};
        }
        break;
      }
      case IndexAtom::Kind::minimum: {
        const Interval a = arg(0);
        const Interval b = arg(1);
        value = {std::min(a.low, b.low), std::min(a.high, b.high)};
        break;
      }
      case IndexAtom::Kind::maximum: {
        const Interval a = arg(0);
        const Interval b = arg(1);
        value = {std::max(a.low, b.low), std::max(a.high, b.high)};
        break;
      }
      case IndexAtom::Kind::table: {
        const Interval a = arg(0);
        const auto& values = atom.table->values;
        const auto last = static_cast<std::int64_t>(values.size()) - 1;
        const auto from = static_cast<std::size_t>(std::clamp<std::int64_t>(a.low, 0, last));
        const auto to = static_cast<std::size_t>(std::clamp<std::int64_t>(a.high, 0, last));
        const auto [low, high] = std::minmax_element(values.begin() + static_cast<std::ptrdiff_t>(from),
                                                     values.begin() + static_cast<std::ptrdiff_t>(to) + 1);
        value = {*low, *high};
        break;
      }
      case IndexAtom::Kind::tensor_value: value = {0, atom.bound - 1}; break;
    }
    if (term.coefficient >= 0) {
      sum.low += term.coefficient * value.low;
      sum.high += term.coefficient * value.high;
    } else {
      sum.low += term.coefficient * value.high;
      sum.high += term.coefficient * value.low;
    }
  }
  return sum;
}

IndexExpr substitute(const IndexExpr& e, const std::function<IndexExpr(VarId)>& replacement) {
  IndexExpr sum = e.constant();
  for (const IndexTerm& term : e.terms()) {
    if (term.atom.kind == IndexAtom::Kind::variable) {
      sum += replacement(term.atom.variable) * term.coefficient;
    } else {
      sum += rebuilt(term.atom, [&](const IndexExpr& arg) { return substitute(arg, replacement); }) * term.coefficient;
    }
  }
  return sum;
}

IndexExpr replace_values(const IndexExpr& e, const std::function<IndexExpr(const IndexAtom&)>& replacement) {
  IndexExpr sum = e.constant();
  for (const IndexTerm& term : e.terms()) {
    if (term.atom.kind == IndexAtom::Kind::tensor_value) {
      sum += replacement(term.atom) * term.coefficient;
    } else {
      sum +=
          rebuilt(term.atom, [&](const IndexExpr& arg) { return replace_values(arg, replacement); }) * term.coefficient;
    }
  }
  return sum;
}

IndexExpr renumber_reads(const IndexExpr& e, const std::function<ReadId(ReadId)>& replacement) {
  return replace_values(e,
                        [&](const IndexAtom& value) { return tensor_value(replacement(value.read()), value.bound); });
}

std::string sum_text(const IndexExpr& e, const std::function<std::string(const IndexAtom&)>& atom,
                     std::string_view times) {
  std::string text;
  for (const bool positive : {true, false}) {
    if (!positive && (e.constant() > 0 || (e.constant() == 0 && e.terms().empty()))) {
      text += fmt::format("{}{}", text.empty() ? "" : " + ", e.constant());
    }
    for (const IndexTerm& term : e.terms()) {
      if ((term.coefficient > 0) != positive) continue;
      const std::int64_t magnitude = std::abs(term.coefficient);
      if (positive) {
        text += text.empty() ? "" : " + ";
      } else {
        text += text.empty() ? "-" : " - ";
      }
      if (magnitude != 1) text += fmt::format("{}{}", magnitude, times);
      text += atom(term.atom);
    }
  }
  if (e.constant() < 0) text += text.empty() ? std::to_string(e.constant()) : fmt::format(" - {}", -e.constant());
  return text;
}

std::string to_text(const IndexExpr& e, const std::function<std::string(VarId)>& name) {
  const auto atom_text = [&](const IndexAtom& atom) -> std::string {
    const auto arg = [&](std::size_t i) { return to_text((*atom.args)[i], name); };
    // A sum inside a division needs its own parentheses.
    const auto operand = [&] {
      const IndexExpr& inner = (*atom.args)[0];
      const bool simple = inner.constant() == 0 && inner.terms().size() == 1 && inner.terms()[0].coefficient == 1;
      return simple ? arg(0) : fmt::format("({})", arg(0));
    };
    switch (atom.kind) {
      case IndexAtom::Kind::variable: return name(atom.variable);
      case IndexAtom::Kind::floor_div: return fmt::format("({} / {})", operand(), atom.number);
      case IndexAtom::Kind::remainder: return fmt::format("({} % {})", operand(), atom.number);
      case IndexAtom::Kind::minimum: return fmt::format("min({}, {})", arg(0), arg(1));
      case IndexAtom::Kind::maximum: return fmt::format("max({}, {})", arg(0), arg(1));
      case IndexAtom::Kind::table: return fmt::format("{}[{}]", atom.table->name, arg(0));
      case IndexAtom::Kind::tensor_value: return fmt::format("@{}[{}]", atom.number, atom.bound);
    }
    fail_check("unknown index atom");
  };
  return sum_text(e, atom_text, "*");
}

}  // namespace stowage
