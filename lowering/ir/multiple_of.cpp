// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/multiple_of.h"

#include <algorithm>
#include <numeric>

namespace stowage {
namespace {

/// True if an atom is a multiple of `unit` whatever its variables are.
bool is_multiple(const IndexAtom& atom, std::int64_t unit) {
  const auto argument = [&](std::size_t i) -> const IndexExpr& { return (*atom.args)[i]; };
  switch (atom.kind) {
    case IndexAtom::Kind::minimum:
    case IndexAtom::Kind::maximum:
      return stowage::is_multiple(argument(0), unit) && stowage::is_multiple(argument(1), unit);
    case IndexAtom::Kind::floor_div: return stowage::is_multiple(argument(0), unit * atom.number);
    case IndexAtom::Kind::remainder: return atom.number % unit == 0 && stowage::is_multiple(argument(0), unit);
    case IndexAtom::Kind::table:
      return std::all_of(atom.table->values.begin(), atom.table->values.end(),
                         [&](std::int64_t value) { return value % unit == 0; });
    case IndexAtom::Kind::variable:
    case IndexAtom::Kind::tensor_value: return false;
  }
  return false;
}

}  // namespace

bool is_multiple(const IndexExpr& e, std::int64_t unit) {
  return e.constant() % unit == 0 && std::all_of(e.terms().begin(), e.terms().end(), [&](const IndexTerm& term) {
           const std::int64_t rest = unit / std::gcd(unit, term.coefficient);
           return rest == 1 || is_multiple(term.atom, rest);
         });
}

std::int64_t power_of_two_dividing(const IndexExpr& e, std::int64_t limit) {
  std::int64_t unit = limit;
  while (unit > 1 && !is_multiple(e, unit)) unit /= 2;
  return unit;
}

}  // namespace stowage
