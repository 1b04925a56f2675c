// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/rewrite.h"

#include <algorithm>
#include <iterator>

#include "lowering/ir/renumber.h"

namespace stowage {
namespace {

StmtPtr with_body(const Stmt& statement, Block body) {
  if (const auto* loop = std::get_if<Loop>(&statement.node)) {
    return with_node(statement, Loop{loop->variable, loop->extent, loop->iterator, std::move(body)});
  }
  return with_node(statement, Guard{std::get<Guard>(statement.node).any_positive, std::move(body)});
}

}  // namespace

StmtPtr with_node(const Stmt& statement, Stmt::Node node) {
  return std::make_shared<const Stmt>(Stmt{statement.id, std::move(node), statement.note});
}

bool needs_no_name(const IndexExpr& e) {
  if (e.is_constant()) return true;
  const auto terms = e.terms();
  return terms.size() == 1 && e.constant() == 0 && terms[0].coefficient == 1 &&
         terms[0].atom.kind == IndexAtom::Kind::variable;
}

Block rewritten(const Block& block, const std::function<Replacement(const Stmt&)>& change) {
  Block result;
  result.reserve(block.size());
  for (const StmtPtr& statement : block) {
    StmtPtr kept = statement;
    if (const Block* body = body_of(*statement)) {
      Block inside = rewritten(*body, change);
      if (inside != *body) kept = with_body(*statement, std::move(inside));
    }
    if (Replacement replacement = change(*kept)) {
      std::move(replacement->begin(), replacement->end(), std::back_inserter(result));
    } else {
      result.push_back(std::move(kept));
    }
  }
  return result;
}

UniqueNames names_in(const LoopNest& nest) {
  UniqueNames names;
  for (const NestVariable& v : nest.variables) names.take(v.name);
  for (const NestTensor& t : nest.tensors) names.take(t.name);
  for (const Buffer& b : nest.buffers) names.take(b.name);
  return names;
}

StatementId unused_id(const Block& block) {
  StatementId unused;
  visit_statements(block, [&](const Stmt& s) { unused = std::max(unused, StatementId(s.id.index() + 1)); });
  return unused;
}

NestRewriter::NestRewriter(LoopNest nest) : nest_(std::move(nest)), bound_at_(nest_.variables.size(), 0) {
  next_id_ = first_new_id_ = unused_id(nest_.body);
  for (const CoreAxis& axis : nest_.core_grid) latest_ = std::max(latest_, axis.variable.index() + 1);
}

LoopNest NestRewriter::run() {
  const Block before = std::move(nest_.body);
  nest_.body = walked(before);
  if (nest_.body == before) return std::move(nest_);
  if (!new_variables_.empty()) {
    const std::vector<std::size_t> places = positions_of_variables();  // before the nest is moved from
    return renumbered(std::move(nest_), places);
  }
  nest_.body = renumbered(nest_.body);
  return std::move(nest_);
}

Block NestRewriter::walked(const Block& block) {
  open_.emplace_back().reserve(block.size());
  for (const StmtPtr& statement : block) {
    if (const Block* body = body_of(*statement)) {
      entering(*statement);
      if (const auto* loop = std::get_if<Loop>(&statement->node)) bind(loop->variable, open_.size());
      Block inside = walked(*body);
      put(inside == *body ? statement : with_body(*statement, std::move(inside)));
      left(*statement);
    } else {
      if (const auto* let = std::get_if<Let>(&statement->node)) bind(let->variable, innermost());
      visit(statement);
    }
  }
  ending();
  Block result = std::move(open_.back());
  open_.pop_back();
  return result;
}

void NestRewriter::bind(VarId variable, std::size_t block) {
  bound_at_[variable.index()] = block;
  latest_ = std::max(latest_, variable.index() + 1);
}

void NestRewriter::put_into(std::size_t block, StmtPtr statement) { open_[block].push_back(std::move(statement)); }

void NestRewriter::put_behind(std::size_t block, const std::set<VarId>& known, StmtPtr statement) {
  Block& statements = open_[block];
  std::size_t at = 0;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const auto* let = std::get_if<Let>(&statements[i]->node);
    if (let != nullptr && known.contains(let->variable)) at = i + 1;
  }
  // Also behind what was put there in the same way before, which is no let.
  while (at < statements.size() && statements[at]->id >= first_new_id_ &&
         !std::holds_alternative<Let>(statements[at]->node)) {
    ++at;
  }
  statements.insert(statements.begin() + static_cast<std::ptrdiff_t>(at), std::move(statement));
}

StmtPtr NestRewriter::made(Stmt::Node node, std::string note) {
  return std::make_shared<const Stmt>(Stmt{next_id_++, std::move(node), std::move(note)});
}

VarId NestRewriter::add_let(const std::string& wanted, const IndexExpr& value, Interval range) {
  const VarId variable(nest_.variables.size());
  nest_.variables.push_back({names().take(wanted), NestVariable::Kind::let, range});
  bound_at_.push_back(innermost());
  new_variables_.push_back({variable, latest_});
  put(made(Let{variable, value}));
  return variable;
}

UniqueNames& NestRewriter::names() {
  if (!names_) names_ = names_in(nest_);
  return *names_;
}

std::vector<std::size_t> NestRewriter::positions_of_variables() const {
  const std::size_t old = nest_.variables.size() - new_variables_.size();
  std::vector<std::size_t> places(nest_.variables.size());
  std::size_t next = 0;
  for (std::size_t v = 0; v <= old; ++v) {
    for (const NewVariable& added : new_variables_) {
      if (added.behind == v) places[added.variable.index()] = next++;
    }
    if (v < old) places[v] = next++;
  }
  return places;
}

std::size_t NestRewriter::outermost_block(const IndexExpr& e) const {
  std::size_t outermost = 0;
  for (const VarId v : variables_of(e)) outermost = std::max(outermost, bound_at_[v.index()]);
  return outermost;
}

Interval NestRewriter::range_of(const IndexExpr& e) const {
  return bounds(e, [&](VarId v) { return nest_.variables[v.index()].range; });
}

}  // namespace stowage
