// SPDX-License-Identifier: Apache-2.0
// What stands around a statement of a nest: the loops and guards that decide how often, and for which values, it runs.
// Let variables are expanded, so that every expression is one of core and loop variables only.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "lowering/ir/compiled_index.h"
#include "lowering/ir/let_values.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// An expression over core and loop variables, by position in LoopNest::variables. First elements of buffers
/// (tensor_value) are found in the slots behind the variables'.
struct Expression {
  IndexExpr expr;
  CompiledIndex compiled;
  std::set<std::size_t> variables;
};

struct EnclosingLoop {
  std::size_t variable = 0;
  Expression trips;
};
using EnclosingGuard = std::vector<Expression>;  ///< passes if any is > 0

/// The loops and guards that enclose one statement.
class Enclosing {
 public:
  explicit Enclosing(const LoopNest& nest);

  /// Outermost first.
  [[nodiscard]] const std::vector<EnclosingLoop>& loops() const { return loops_; }
  [[nodiscard]] const std::vector<EnclosingGuard>& guards() const { return guards_; }
  [[nodiscard]] Expression expression(const IndexExpr& e) const;
  /// With its let variables expanded, no more.
  [[nodiscard]] IndexExpr expanded(const IndexExpr& e) const { return lets_.expanded(e); }
  /// Slots that an array of values needs.
  [[nodiscard]] std::size_t slots() const { return nest_->variables.size() + nest_->buffers.size(); }

 private:
  friend void visit_with_enclosing_while(const LoopNest& nest,
                                         const std::function<bool(const Stmt&, const Enclosing&)>& visit);
  bool walk(const Block& block, const std::function<bool(const Stmt&, const Enclosing&)>& visit);

  const LoopNest* nest_;
  LetValues lets_;
  std::vector<EnclosingLoop> loops_;
  std::vector<EnclosingGuard> guards_;
};

/// Calls `visit` for every statement in program order. A Let is visited before it takes effect, a Loop or Guard before
/// its body.
void visit_with_enclosing(const LoopNest& nest, const std::function<void(const Stmt&, const Enclosing&)>& visit);

/// The same until `visit` says false: nothing is made of that statement's expressions, nor of those behind it.
void visit_with_enclosing_while(const LoopNest& nest, const std::function<bool(const Stmt&, const Enclosing&)>& visit);

/// Values of all slots for a core: its coordinates, everything else 0.
std::vector<std::int64_t> values_of_core(const LoopNest& nest, std::int64_t core);

}  // namespace stowage
