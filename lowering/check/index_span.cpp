// SPDX-License-Identifier: Apache-2.0
#include "lowering/check/index_span.h"

#include <algorithm>

namespace stowage {
namespace {

std::int64_t divided(std::int64_t a, std::int64_t by) { return a / by - (a % by < 0 ? 1 : 0); }

std::optional<Interval> span_of(const IndexAtom& atom, const std::vector<Interval>& variables) {
  const auto argument = [&](std::size_t i) { return stowage::span_of((*atom.args)[i], variables); };
  switch (atom.kind) {
    case IndexAtom::Kind::variable:
      if (atom.variable.index() >= variables.size()) return std::nullopt;
      return variables[atom.variable.index()];
    case IndexAtom::Kind::floor_div: {
      const auto a = argument(0);
      if (!a) return std::nullopt;
      return Interval{divided(a->low, atom.number), divided(a->high, atom.number)};
    }
    case IndexAtom::Kind::remainder: {
      const auto a = argument(0);
      if (!a) return std::nullopt;
      const std::int64_t quotient = divided(a->low, atom.number);
      if (quotient != divided(a->high, atom.number)) return std::nullopt;
      return Interval{a->low - quotient * atom.number, a->high - quotient * atom.number};
    }
    case IndexAtom::Kind::minimum:
    case IndexAtom::Kind::maximum: {
      const auto a = argument(0);
      const auto b = argument(1);
      if (!a || !b) return std::nullopt;
      if (atom.kind == IndexAtom::Kind::minimum) return Interval{std::min(a->low, b->low), std::min(a->high, b->high)};
      return Interval{std::max(a->low, b->low), std::max(a->high, b->high)};
    }
    case IndexAtom::Kind::table: {
      const auto a = argument(0);
      const auto entries = static_cast<std::int64_t>(atom.table->values.size());
      if (!a || a->low < 0 || a->high >= entries || a->low > a->high) return std::nullopt;
      const auto [low, high] =
          std::minmax_element(atom.table->values.begin() + a->low, atom.table->values.begin() + a->high + 1);
      return Interval{*low, *high};
    }
    case IndexAtom::Kind::tensor_value: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Interval> span_of(const IndexExpr& e, const std::vector<Interval>& variables) {
  Interval sum{e.constant(), e.constant()};
  for (const IndexTerm& term : e.terms()) {
    const auto value = span_of(term.atom, variables);
    if (!value) return std::nullopt;
    sum.low += (term.coefficient > 0 ? value->low : value->high) * term.coefficient;
    sum.high += (term.coefficient > 0 ? value->high : value->low) * term.coefficient;
  }
  return sum;
}

}  // namespace stowage
