// SPDX-License-Identifier: Apache-2.0
// A nest walked the obvious way: every iteration of every loop, on one core.
#pragma once

#include <vector>

#include "lowering/ir/loop_nest.h"

namespace stowage::test {

class NestWalk {
 public:
  NestWalk(const LoopNest& nest, int core) : values_(nest.variables.size(), 0) {
    for (const CoreAxis& axis : nest.core_grid) values_[axis.variable.index()] = core / axis.stride % axis.parts;
  }

  /// With 0 for the value of a tensor, as counts have it.
  [[nodiscard]] std::int64_t value(const IndexExpr& e) const {
    return evaluate(
        e, [&](VarId v) { return values_[v.index()]; }, [](ReadId) { return std::int64_t{0}; });
  }

  /// Calls `visit` with every statement that is executed and is no loop, guard or let, in order.
  template <class Visit>
  void run(const Block& statements, const Visit& visit) {
    for (const StmtPtr& s : statements) {
      if (const auto* loop = std::get_if<Loop>(&s->node)) {
        const std::int64_t trips = value(loop->extent);
        for (std::int64_t i = 0; i < trips; ++i) {
          values_[loop->variable.index()] = i;
          run(loop->body, visit);
        }
      } else if (const auto* let = std::get_if<Let>(&s->node)) {
        values_[let->variable.index()] = value(let->value);
      } else if (const auto* guard = std::get_if<Guard>(&s->node)) {
        bool any = false;
        for (const IndexExpr& e : guard->any_positive) any = any || value(e) > 0;
        if (any) run(guard->body, visit);
      } else {
        visit(*s);
      }
    }
  }

 private:
  std::vector<std::int64_t> values_;
};

}  // namespace stowage::test
