// SPDX-License-Identifier: Apache-2.0
// How passes change a nest: its statements are never edited but made anew, the ones inside before the one around them.
// What does not change is shared with the nest as it was.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/identifiers.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// What becomes of a statement: these stand in its place (none: it goes), or it stays as it is.
using Replacement = std::optional<Block>;

/// The block with every statement in it, at any depth, replaced by what `change` says. A Loop or Guard comes with its
/// new body.
Block rewritten(const Block& block, const std::function<Replacement(const Stmt&)>& change);

/// The same statement, number and note kept, as another node.
StmtPtr with_node(const Stmt& statement, Stmt::Node node);

/// Whether an expression reads well as it is: a constant, or a variable alone.
bool needs_no_name(const IndexExpr& e);

/// The names that a nest has, to make others beside them.
UniqueNames names_in(const LoopNest& nest);

/// The block with every node of one kind passed through `edit`, which says whether it changed anything.
template <class Node>
Block edited(const Block& block, const std::function<bool(const Stmt&, Node&)>& edit) {
  return rewritten(block, [&](const Stmt& statement) -> Replacement {
    const auto* found = std::get_if<Node>(&statement.node);
    if (found == nullptr) return std::nullopt;
    Node node = *found;
    if (!edit(statement, node)) return std::nullopt;
    return Block{with_node(statement, std::move(node))};
  });
}

/// A number behind those of all statements.
StatementId unused_id(const Block& block);

/// The base of passes that put new statements into a nest: it walks the statements in program order and writes each
/// into the block that it came from, or what its pass says instead. The blocks around a statement stay open while it
/// is looked at, so that something can be put there before the loop that leads to it.
class NestRewriter {
 public:
  explicit NestRewriter(LoopNest nest);
  NestRewriter(const NestRewriter&) = delete;
  NestRewriter& operator=(const NestRewriter&) = delete;
  virtual ~NestRewriter() = default;

  /// The nest with new statements in it, numbered in program order; variables keep their order among themselves.
  LoopNest run();

 protected:
  /// A statement without a body: what becomes of it is put().
  virtual void visit(const StmtPtr& statement) { put(statement); }
  /// A loop or guard comes next: what precedes it may be put.
  virtual void entering(const Stmt& /*statement*/) {}
  /// The innermost open block has no more statements: what ends it may be put.
  virtual void ending() {}
  /// A loop or guard of the nest as it was has been written into the innermost open block: what follows it may be put.
  virtual void left(const Stmt& /*statement*/) {}

  [[nodiscard]] const LoopNest& nest() const { return nest_; }

  /// Writes into the innermost open block.
  void put(StmtPtr statement) { put_into(innermost(), std::move(statement)); }
  /// Writes into an open block, 0 being the nest's body: before the statement that leads from there to what is visited.
  void put_into(std::size_t block, StmtPtr statement);
  /// Writes into an open block as early as it may: behind the lets there that give one of `known` its value.
  void put_behind(std::size_t block, const std::set<VarId>& known, StmtPtr statement);
  StmtPtr made(Stmt::Node node, std::string note = {});

  /// Binds a new variable in the innermost open block. It is called as wanted or, where that is taken, with a number
  /// behind it.
  VarId add_let(const std::string& wanted, const IndexExpr& value, Interval range);

  [[nodiscard]] std::size_t innermost() const { return open_.size() - 1; }
  /// The outermost open block in which all variables of an expression have values.
  [[nodiscard]] std::size_t outermost_block(const IndexExpr& e) const;
  [[nodiscard]] Interval range_of(const IndexExpr& e) const;

 private:
  struct NewVariable {
    VarId variable;
    std::size_t behind = 0;  ///< so many of the nest's own come before it
  };

  Block walked(const Block& block);
  void bind(VarId variable, std::size_t block);
  UniqueNames& names();
  [[nodiscard]] std::vector<std::size_t> positions_of_variables() const;

  LoopNest nest_;
  std::vector<Block> open_;            ///< outermost first
  std::vector<std::size_t> bound_at_;  ///< by variable: the open block that it has its value in
  std::size_t latest_ = 0;             ///< so many variables, by number, have been met
  std::vector<NewVariable> new_variables_;
  std::optional<UniqueNames> names_;  ///< of the nest; nothing until a new one is wanted
  StatementId first_new_id_, next_id_;
};

}  // namespace stowage
