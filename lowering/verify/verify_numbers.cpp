// SPDX-License-Identifier: Apache-2.0
// Numbers stay so small that nothing overflows: while names are put into expressions, which multiplies their factors
// whatever values occur, and in the `int` that emitted code counts with.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "lowering/verify/verify_rules.h"

namespace stowage {
namespace {

/// Differences and products with small numbers, which the rules behind make of expressions, still fit 64 bits then.
constexpr long double largest_expanded = 7e16L;
constexpr long double largest_int = std::numeric_limits<std::int32_t>::max();

using SizeOf = std::function<long double(VarId)>;

long double size_of(const IndexExpr& e, const SizeOf& variable);

/// No value of the atom is further from 0, nor is any number that comes up where it is put together anew.
long double size_of(const IndexAtom& atom, const SizeOf& variable) {
  const auto arg = [&](std::size_t i) { return size_of((*atom.args)[i], variable); };
  switch (atom.kind) {
    case IndexAtom::Kind::variable: return variable(atom.variable);
    case IndexAtom::Kind::floor_div:
    case IndexAtom::Kind::remainder: return std::max(arg(0), static_cast<long double>(atom.number));
    case IndexAtom::Kind::minimum:
    case IndexAtom::Kind::maximum: return arg(0) + arg(1);
    case IndexAtom::Kind::table: {
      long double largest = arg(0);
      for (const std::int64_t value : atom.table->values)
        largest = std::max(largest, std::abs(static_cast<long double>(value)));
      return largest;
    }
    case IndexAtom::Kind::tensor_value: return static_cast<long double>(atom.bound);
  }
  return std::numeric_limits<long double>::infinity();
}

long double size_of(const IndexExpr& e, const SizeOf& variable) {
  long double sum = std::abs(static_cast<long double>(e.constant()));
  for (const IndexTerm& term : e.terms())
    sum += std::abs(static_cast<long double>(term.coefficient)) * size_of(term.atom, variable);
  return sum;
}

/// The largest size of what a stage's reads touch, where its axes have these sizes.
long double size_of_reads(const Stage& stage, const SizeOf& axis) {
  long double largest = 0;
  for (const Access& access : stage.reads) {
    for (const IndexExpr& e : access.index) largest = std::max(largest, size_of(e, axis));
  }
  return largest;
}

/// Whatever of its terms is added first, which code writes one behind another.
bool fits_int(const IndexExpr& e, const VariableRange& range) {
  long double low = std::min<long double>(0, static_cast<long double>(e.constant()));
  long double high = std::max<long double>(0, static_cast<long double>(e.constant()));
  for (const IndexTerm& term : e.terms()) {
    const auto fits = [&](const IndexExpr& arg) { return fits_int(arg, range); };
    if (term.atom.args && !std::all_of(term.atom.args->begin(), term.atom.args->end(), fits)) return false;
    const Interval value = bounds(IndexExpr::of_atom(term.atom), range);
    const auto factor = static_cast<long double>(term.coefficient);
    const long double a = factor * static_cast<long double>(value.low);
    const long double b = factor * static_cast<long double>(value.high);
    low += std::min({0.0L, a, b});
    high += std::max({0.0L, a, b});
  }
  return low >= -largest_int && high <= largest_int;
}

}  // namespace

Broken verify_expansion(const LoopNest& nest) {
  std::vector<long double> sizes(nest.variables.size(), 1);
  const SizeOf variable = [&](VarId v) { return sizes[v.index()]; };
  for (const CoreAxis& axis : nest.core_grid) sizes[axis.variable.index()] = static_cast<long double>(axis.parts);
  Broken broken;
  visit_statements(nest.body, [&](const Stmt& s) {
    if (broken) return;
    long double largest = 1;
    visit_expressions(nest, s, [&](const IndexExpr& e) { largest = std::max(largest, size_of(e, variable)); });
    if (const auto* loop = std::get_if<Loop>(&s.node)) sizes[loop->variable.index()] = largest;
    if (const auto* let = std::get_if<Let>(&s.node)) sizes[let->variable.index()] = largest;
    if (const auto* compute = std::get_if<Compute>(&s.node)) {
      const Stage& stage = nest.stages.stages[compute->stage];
      const SizeOf axis = [&](VarId a) {
        return std::max(largest, static_cast<long double>(stage.axes[a.index()].extent));
      };
      largest = std::max(largest, size_of_reads(stage, axis));
    }
    if (largest > largest_expanded)
      broken = broken_rule(nest, "number-range", s, "numbers are too large, names put in, to be counted with");
  });
  return broken;
}

Broken verify_int(const LoopNest& nest) {
  // Of a declared range and what follows from the expressions, both of which hold, the narrower.
  std::vector<Interval> ranges;
  for (const NestVariable& variable : nest.variables) ranges.push_back(variable.range);
  const auto range_of = [&](VarId v) { return ranges[v.index()]; };
  const auto narrow = [&](VarId v, const Interval& range) {
    Interval& known = ranges[v.index()];
    known = {std::max(known.low, range.low), std::min(known.high, range.high)};
  };
  for (const CoreAxis& axis : nest.core_grid) narrow(axis.variable, {0, axis.parts - 1});
  visit_statements(nest.body, [&](const Stmt& s) {
    if (const auto* loop = std::get_if<Loop>(&s.node))
      narrow(loop->variable, {0, std::max<std::int64_t>(0, bounds(loop->extent, range_of).high - 1)});
    if (const auto* let = std::get_if<Let>(&s.node)) narrow(let->variable, bounds(let->value, range_of));
  });
  Broken broken;
  visit_statements(nest.body, [&](const Stmt& s) {
    visit_expressions(nest, s, [&](const IndexExpr& e) {
      if (broken || fits_int(e, range_of)) return;
      broken = broken_rule(nest, "number-range", s,
                           fmt::format("counts with {}, which may not fit an int of 32 bits",
                                       to_text(e, [&](VarId v) { return nest.variables[v.index()].name; })));
    });
  });
  return broken;
}

}  // namespace stowage
