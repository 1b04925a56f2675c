// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/enclosing.h"

namespace stowage {

Enclosing::Enclosing(const LoopNest& nest) : nest_(&nest) {}

Expression Enclosing::expression(const IndexExpr& e) const {
  Expression result;
  result.expr = expanded(e);
  result.compiled = CompiledIndex(result.expr, nest_->variables.size());
  for (const VarId v : variables_of(result.expr)) result.variables.insert(v.index());
  return result;
}

bool Enclosing::walk(const Block& block, const std::function<bool(const Stmt&, const Enclosing&)>& visit) {
  for (const StmtPtr& statement : block) {
    if (!visit(*statement, *this)) return false;
    if (const auto* loop = std::get_if<Loop>(&statement->node)) {
      loops_.push_back({loop->variable.index(), expression(loop->extent)});
      if (!walk(loop->body, visit)) return false;
      loops_.pop_back();
    } else if (const auto* guard = std::get_if<Guard>(&statement->node)) {
      EnclosingGuard conditions;
      for (const IndexExpr& e : guard->any_positive) conditions.push_back(expression(e));
      guards_.push_back(std::move(conditions));
      if (!walk(guard->body, visit)) return false;
      guards_.pop_back();
    } else if (const auto* let = std::get_if<Let>(&statement->node)) {
      lets_.add(*let);
    }
  }
  return true;
}

void visit_with_enclosing(const LoopNest& nest, const std::function<void(const Stmt&, const Enclosing&)>& visit) {
  visit_with_enclosing_while(nest, [&](const Stmt& s, const Enclosing& around) {
    visit(s, around);
    return true;
  });
}

void visit_with_enclosing_while(const LoopNest& nest, const std::function<bool(const Stmt&, const Enclosing&)>& visit) {
  Enclosing(nest).walk(nest.body, visit);
}

std::vector<std::int64_t> values_of_core(const LoopNest& nest, std::int64_t core) {
  std::vector<std::int64_t> values(nest.variables.size() + nest.buffers.size(), 0);
  for (const CoreAxis& axis : nest.core_grid) values[axis.variable.index()] = core / axis.stride % axis.parts;
  return values;
}

}  // namespace stowage
