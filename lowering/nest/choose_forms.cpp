// SPDX-License-Identifier: Apache-2.0
#include <tuple>

#include "lowering/ir/compute_form.h"
#include "lowering/ir/rewrite.h"
#include "lowering/nest/passes.h"

namespace stowage {

LoopNest choose_forms(LoopNest nest, const Target& target) {
  nest.body = edited<Compute>(nest.body, [&](const Stmt&, Compute& compute) {
    const auto choice = [](const Compute& c) { return std::tuple(c.form, c.lane_axis, c.block_axis); };
    const auto before = choice(compute);
    choose_form(nest, compute, target);
    return choice(compute) != before;
  });
  return nest;
}

}  // namespace stowage
