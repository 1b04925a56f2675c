// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/loop_nest.h"

namespace stowage {

std::int64_t Buffer::bytes() const { return element_count(extents) * byte_size(type) * slots; }

int LoopNest::cores_used() const {
  int cores = 1;
  for (const CoreAxis& axis : core_grid) cores *= axis.parts;
  return cores;
}

const Block* body_of(const Stmt& statement) {
  if (const auto* loop = std::get_if<Loop>(&statement.node)) return &loop->body;
  if (const auto* guard = std::get_if<Guard>(&statement.node)) return &guard->body;
  return nullptr;
}

void visit_statements(const Block& block, const std::function<void(const Stmt&)>& visit) {
  for (const StmtPtr& statement : block) {
    visit(*statement);
    if (const Block* body = body_of(*statement)) visit_statements(*body, visit);
  }
}

const Stmt* find_statement(const LoopNest& nest, int id) {
  const Stmt* found = nullptr;
  visit_statements(nest.body, [&](const Stmt& statement) {
    if (statement.id == id) found = &statement;
  });
  return found;
}

}  // namespace stowage
