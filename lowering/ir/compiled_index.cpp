// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/compiled_index.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/check.h"

namespace stowage {

CompiledIndex::CompiledIndex(const IndexExpr& e, std::size_t first_read) : constant_(e.constant()) {
  for (const IndexTerm& term : e.terms()) {
    const IndexAtom& atom = term.atom;
    if (atom.kind == IndexAtom::Kind::variable) {
      linear_.push_back({term.coefficient, atom.variable.index()});
      continue;
    }
    Nested nested;
    nested.coefficient = term.coefficient;
    nested.kind = atom.kind;
    nested.number = atom.number;
    if (atom.kind == IndexAtom::Kind::tensor_value) nested.number += static_cast<std::int64_t>(first_read);
    nested.bound = atom.bound;
    nested.table = atom.table;
    if (atom.args) {
      for (const IndexExpr& arg : *atom.args) nested.args.emplace_back(arg, first_read);
    }
    nested_.push_back(std::move(nested));
  }
}

std::int64_t CompiledIndex::evaluate(const Nested& term, std::span<const std::int64_t> values) {
  switch (term.kind) {
    case IndexAtom::Kind::variable: break;
    case IndexAtom::Kind::floor_div: return floor_div(term.args[0](values), term.number);
    case IndexAtom::Kind::remainder: return floor_mod(term.args[0](values), term.number);
    case IndexAtom::Kind::minimum: return std::min(term.args[0](values), term.args[1](values));
    case IndexAtom::Kind::maximum: return std::max(term.args[0](values), term.args[1](values));
    case IndexAtom::Kind::table: {
      const std::int64_t at = term.args[0](values);
      const auto size = static_cast<std::int64_t>(term.table->values.size());
      if (at < 0 || at >= size)
        throw LookupOutside(fmt::format("entry {} of table {} is asked for, which has {}", at, term.table->name, size));
      return term.table->values[static_cast<std::size_t>(at)];
    }
    case IndexAtom::Kind::tensor_value: {
      const std::int64_t value = values[static_cast<std::size_t>(term.number)];
      return value < 0 ? value + term.bound : value;
    }
  }
  fail_check("unknown index atom");
}

}  // namespace stowage
