// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/athread_machine.h"
#include "lowering/ir/register_chains.h"
#include "lowering/ir/rewrite.h"
#include "lowering/nest/passes.h"

namespace stowage {

LoopNest keep_in_registers(LoopNest nest, const Target& target) {
  std::set<StatementId> starts;
  std::map<StatementId, const Compute*> sums;  // by the computations behind them
  std::vector<RegisterChain> chains;
  if (target.cores.vector_lanes == lanes_of_floatv4) chains = possible_register_chains(nest);
  for (const RegisterChain& chain : chains) {
    starts.insert(chain.start->id);
    for (const Stmt* end : chain.ends) sums.emplace(end->id, &std::get<Compute>(chain.sum->node));
  }
  nest.body = rewritten(nest.body, [&](const Stmt& statement) -> Replacement {
    if (const auto* given = std::get_if<Fill>(&statement.node)) {
      const bool is_start = starts.contains(statement.id);
      if (is_start == given->in_registers) return std::nullopt;
      Fill fill = *given;
      fill.in_registers = is_start;
      if (!is_start) fill.slides_along.reset();
      return Block{with_node(statement, std::move(fill))};
    }
    const auto* given = std::get_if<Compute>(&statement.node);
    if (given == nullptr || given->part != Compute::Part::map) return std::nullopt;
    const auto sum = sums.find(statement.id);
    const bool is_end = sum != sums.end();
    const std::optional<VarId> block = is_end ? sum->second->block_axis : std::nullopt;
    const bool is_marked = is_marked_as_in_registers(statement);
    if (is_end == is_marked && (!is_end || block == given->block_axis)) return std::nullopt;
    Compute end = *given;
    end.form = is_end ? ComputeForm::register_block : ComputeForm::vector;
    end.block_axis = block;
    return Block{with_node(statement, std::move(end))};
  });
  return nest;
}

}  // namespace stowage
