// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/let_values.h"

#include <algorithm>

namespace stowage {

void LetValues::add(const Let& let) {
  const std::size_t variable = let.variable.index();
  values_.resize(std::max(values_.size(), variable + 1));
  values_[variable] = expanded(let.value);
}

const IndexExpr* LetValues::find(VarId variable) const {
  if (variable.index() >= values_.size()) return nullptr;
  const std::optional<IndexExpr>& value = values_[variable.index()];
  return value ? &*value : nullptr;
}

IndexExpr LetValues::expanded(const IndexExpr& e) const {
  if (!any_variable(e, [&](VarId v) { return find(v) != nullptr; })) return e;
  return substitute(e, [&](VarId v) {
    const IndexExpr* const value = find(v);
    return value != nullptr ? *value : IndexExpr(v);
  });
}

LetValues let_values(const LoopNest& nest) {
  LetValues values;
  visit_statements(nest.body, [&](const Stmt& s) {
    if (const auto* let = std::get_if<Let>(&s.node)) values.add(*let);
  });
  return values;
}

}  // namespace stowage
