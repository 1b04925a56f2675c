// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include "core/athread_machine.h"
#include "lowering/ir/register_chains.h"
#include "lowering/ir/rewrite.h"
#include "lowering/nest/passes.h"

namespace stowage {

LoopNest keep_in_registers(LoopNest nest, const Target& target) {
  if (target.cores.vector_lanes != lanes_of_floatv4) return nest;  // there are no register blocks
  std::set<StatementId> starts;
  std::map<StatementId, const Compute*> sums;  // by the computations behind them
  const std::vector<RegisterChain> chains = possible_register_chains(nest);
  for (const RegisterChain& chain : chains) {
    starts.insert(chain.start->id);
    for (const Stmt* end : chain.ends) sums.emplace(end->id, &std::get<Compute>(chain.sum->node));
  }
  if (starts.empty()) return nest;
  nest.body = rewritten(nest.body, [&](const Stmt& statement) -> Replacement {
    if (starts.contains(statement.id)) {
      Fill fill = std::get<Fill>(statement.node);
      fill.in_registers = true;
      return Block{with_node(statement, std::move(fill))};
    }
    const auto sum = sums.find(statement.id);
    if (sum == sums.end()) return std::nullopt;
    Compute end = std::get<Compute>(statement.node);
    end.form = ComputeForm::register_block;
    end.block_axis = sum->second->block_axis;
    return Block{with_node(statement, std::move(end))};
  });
  return nest;
}

}  // namespace stowage
