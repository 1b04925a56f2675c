// SPDX-License-Identifier: Apache-2.0
// A nest stays small when its let variables are expanded, which every later rule does. Texts come from strangers:
// twenty lines that each use the line before twice would expand to a million operations.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/number_text.h"
#include "lowering/verify/verify_rules.h"

namespace stowage {
namespace {

constexpr std::int64_t max_size = 200'000;  ///< terms of all expressions of a nest; the largest of ours have thousands
constexpr std::int64_t max_depth = 200;     ///< as deep as texts may nest

/// Of an expression once let variables are expanded.
struct Measure {
  std::int64_t size = 1;  ///< terms, in arguments too; more than max_size is max_size + 1
  std::int64_t depth = 1;
};

class SizeCheck {
 public:
  explicit SizeCheck(const LoopNest& nest) : nest_(nest), lets_(nest.variables.size()) {}

  Broken run() {
    for (const Buffer& buffer : nest_.buffers) {
      for (const IndexExpr& origin : buffer.origin) add(origin);
    }
    Broken broken;
    std::int64_t statements = 0;
    std::int64_t largest = 0;
    visit_statements(nest_.body, [&](const Stmt& s) {
      ++statements;
      largest = std::max(largest, std::int64_t{s.id.value});
      if (broken) return;
      visit_expressions(nest_, s, [&](const IndexExpr& e) { add(e); });
      if (const auto* let = std::get_if<Let>(&s.node)) lets_[let->variable.index()] = measured(let->value);
      if (deepest_ > max_depth) {
        broken = broken_rule(nest_, "size", s,
                             fmt::format("nests {} deep with its variables expanded, {} at most", deepest_, max_depth));
      } else if (size_ > max_size) {
        broken = broken_rule(nest_, "size", s,
                             fmt::format("up to here the nest has more than {} terms with its variables expanded",
                                         grouped_digits(max_size)));
      }
    });
    // Tables have a place for every number up to the largest.
    constexpr std::int64_t gaps = 16;
    if (!broken && largest > gaps * statements) {
      broken = of_nest("size", fmt::format("statement {} is one of {}, numbers go up to {} then", largest, statements,
                                           gaps * statements));
    }
    return broken;
  }

 private:
  void add(const IndexExpr& e) {
    const Measure measure = measured(e);
    size_ = std::min(size_ + measure.size, max_size + 1);
    deepest_ = std::max(deepest_, measure.depth);
  }

  [[nodiscard]] Measure measured(const IndexExpr& e) const {
    Measure sum;
    for (const IndexTerm& term : e.terms()) {
      Measure atom;
      if (term.atom.kind == IndexAtom::Kind::variable) {
        atom = lets_[term.atom.variable.index()];
      } else if (term.atom.args) {
        for (const IndexExpr& argument : *term.atom.args) {
          const Measure inner = measured(argument);
          atom.size += inner.size;
          atom.depth = std::max(atom.depth, inner.depth + 1);
        }
      }
      sum.size = std::min(sum.size + atom.size, max_size + 1);
      sum.depth = std::max(sum.depth, atom.depth);
    }
    return sum;
  }

  const LoopNest& nest_;
  std::vector<Measure> lets_;  ///< by variable; of others than let variables one term
  std::int64_t size_ = 0;
  std::int64_t deepest_ = 0;
};

}  // namespace

void visit_expressions(const LoopNest& nest, const Stmt& s, const std::function<void(const IndexExpr&)>& visit) {
  const auto ranges = [&](const std::vector<Range>& all) {
    for (const Range& range : all) {
      visit(range.start);
      visit(range.extent);
      visit(range.start + range.extent);
    }
  };
  visit_uses(s, [&](const BufferUse& use) {
    visit(use.slot);
    if (route_of(s) || std::holds_alternative<Compute>(s.node)) {
      for (const IndexExpr& origin : origin_of(nest, use)) visit(origin);
    }
  });
  if (const auto* loop = std::get_if<Loop>(&s.node)) visit(loop->extent);
  if (const auto* let = std::get_if<Let>(&s.node)) visit(let->value);
  if (const auto* guard = std::get_if<Guard>(&s.node)) {
    for (const IndexExpr& e : guard->any_positive) visit(e);
  }
  if (const auto* dma = std::get_if<Dma>(&s.node)) ranges(dma->region);
  if (const auto* broadcast = std::get_if<Broadcast>(&s.node)) {
    visit(broadcast->sender);
    ranges(broadcast->region);
  }
  if (const auto* fill = std::get_if<Fill>(&s.node); fill != nullptr && fill->around) ranges(*fill->around);
  if (const auto* compute = std::get_if<Compute>(&s.node)) ranges(compute->box);
}

Broken verify_size(const LoopNest& nest) { return SizeCheck(nest).run(); }

}  // namespace stowage
