// SPDX-License-Identifier: Apache-2.0
// What is marked as carried in the registers of a sum is held against the chains that the nest may have: its statements
// stand where they would without, and were looked at by the other rules as they stand there.
#include <map>
#include <set>

#include "core/athread_machine.h"
#include "lowering/ir/register_chains.h"
#include "lowering/ir/sliding_windows.h"
#include "lowering/verify/verify_rules.h"

namespace stowage {

Broken verify_windows(const LoopNest& nest) {
  std::map<StatementId, VarId> loops;  // by the fills that may be marked
  for (const SlidingWindow& window : possible_sliding_windows(nest)) {
    if (is_marked_as_in_registers(*window.chain.start)) loops.emplace(window.chain.start->id, window.along);
  }
  Broken broken;
  visit_statements(nest.body, [&](const Stmt& s) {
    const auto* fill = std::get_if<Fill>(&s.node);
    if (broken || fill == nullptr || !fill->slides_along) return;
    if (const auto loop = loops.find(s.id); loop != loops.end() && loop->second == fill->slides_along) return;
    broken =
        broken_rule(nest, "sliding-window", s,
                    "no sum that begins in registers finds in the LDM what the trip before has computed of its box");
  });
  return broken;
}

Broken verify_registers(const LoopNest& nest, const Target& target) {
  std::set<StatementId> starts;
  std::map<StatementId, const Compute*> sums;  // of what may be computed in their registers, as far as all before it is
  std::vector<RegisterChain> possible;         // none where vectors are no floatv4, as register blocks are of these
  if (target.cores.vector_lanes == lanes_of_floatv4) possible = possible_register_chains(nest);
  for (const RegisterChain& chain : possible) {
    starts.insert(chain.start->id);
    for (const Stmt* end : chain.ends) {
      sums.emplace(end->id, &std::get<Compute>(chain.sum->node));
      if (!is_marked_as_in_registers(*end)) break;
    }
  }
  Broken broken;
  visit_statements(nest.body, [&](const Stmt& s) {
    if (broken || !is_marked_as_in_registers(s)) return;
    if (std::holds_alternative<Fill>(s.node)) {
      if (!starts.contains(s.id))
        broken = broken_rule(nest, "in-registers", s, "no sum in register blocks begins with it on every path");
      return;
    }
    const auto& compute = std::get<Compute>(s.node);
    const auto sum = sums.find(s.id);
    if (sum == sums.end()) {
      broken =
          broken_rule(nest, "in-registers", s, "it is not computed in place of a sum in register blocks before it");
    } else if (compute.block_axis != sum->second->block_axis) {
      broken = broken_rule(nest, "in-registers", s, "its blocks are not those of the sum");
    }
  });
  return broken;
}

}  // namespace stowage
