// SPDX-License-Identifier: Apache-2.0
#include <tuple>
#include <utility>

#include "lowering/ir/compute_form.h"
#include "lowering/ir/register_chains.h"
#include "lowering/ir/rewrite.h"
#include "lowering/nest/passes.h"

namespace stowage {

LoopNest choose_forms(LoopNest nest, const Target& target) {
  bool has_marks = false;  // of pass "registers", which are those of the forms that there were
  visit_statements(nest.body, [&](const Stmt& s) { has_marks = has_marks || is_marked_as_in_registers(s); });
  nest.body = edited<Compute>(nest.body, [&](const Stmt&, Compute& compute) {
    const auto choice = [](const Compute& c) { return std::tuple(c.form, c.lane_axis, c.block_axis); };
    const auto before = choice(compute);
    choose_form(nest, compute, target);
    return choice(compute) != before;
  });
  return has_marks ? keep_in_registers(std::move(nest), target) : nest;
}

}  // namespace stowage
