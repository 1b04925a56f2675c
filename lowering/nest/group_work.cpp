// SPDX-License-Identifier: Apache-2.0
#include "lowering/nest/group_work.h"

#include <algorithm>

#include <fmt/format.h>

#include "lowering/model/group_model.h"

namespace stowage {
namespace {

std::int64_t operations_a_point(const Stage& stage) {
  return std::max<std::int64_t>(1, operation_count(stage.body) + (stage.reduction == Reduction::none ? 0 : 1));
}

std::int64_t whole_operations(const Stage& stage) {
  std::int64_t operations = operations_a_point(stage);
  for (const Axis& axis : stage.axes) operations *= axis.extent;
  return operations;
}

}  // namespace

GroupWork work_of(const Plan& plan) {
  GroupWork work;
  for (const Stage& stage : plan.nest.stages.stages) work.needed += whole_operations(stage);
  for (const auto& [id, totals] : plan.counts.compute) {
    const auto& compute = std::get<Compute>(find_statement(plan.nest, id)->node);
    if (compute.part == Compute::Part::finish) continue;
    const Stage& stage = plan.nest.stages.stages[compute.stage];
    work.computed += totals.points * operations_a_point(stage);
  }
  return work;
}

std::string work_text(const Plan& plan, const Target& target) {
  return fmt::format("uses {} of {} cores and computes {:.2f} times the operations that are needed",
                     plan.nest.cores_used(), target.cores.count, work_of(plan).factor());
}

}  // namespace stowage
