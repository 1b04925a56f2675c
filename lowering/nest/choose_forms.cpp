// SPDX-License-Identifier: Apache-2.0
#include <tuple>

#include "lowering/ir/compute_form.h"
#include "lowering/ir/rewrite.h"
#include "lowering/nest/passes.h"

namespace stowage {

LoopNest choose_forms(LoopNest nest, const Target& target) {
  nest.body = edited<Compute>(nest.body, [&](const Stmt&, Compute& compute) {
    const auto choice = [](const Compute& c) { return std::tuple(c.form, c.lane_axis, c.block_axis); };
    const Compute before = compute;
    choose_form(nest, compute, target);
    const bool in_registers = before.part == Compute::Part::map && before.form == ComputeForm::register_block;
    if (in_registers && compute.form == ComputeForm::vector && compute.lane_axis == before.lane_axis) {
      compute = before;  // pass "registers" has made that of it
    }
    return choice(compute) != choice(before);
  });
  return nest;
}

}  // namespace stowage
