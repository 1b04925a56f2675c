// SPDX-License-Identifier: Apache-2.0
#include "lowering/group_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "lowering/dma_alignment.h"
#include "lowering/swtvm.h"

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

/// Cores that a stage would use if it were a kernel of its own.
std::int64_t cores_alone(const StageList& stages, const Stage& stage, int cores) {
  StageList alone{stages.tensors, {stage}};
  for (StageTensor& tensor : alone.tensors) tensor.role = TensorRole::input;
  alone.tensors[static_cast<std::size_t>(stage.output)].role = TensorRole::output;
  std::int64_t used = 1;
  for (const ParallelSplit& split : split_over_cores(build_group_model(alone), cores)) used *= split.parts;
  return used;
}

Decision judge_recomputation(const Plan& plan) {
  const GroupWork work = work_of(plan);
  if (work.factor() <= most_recomputation) return Decision::allow();
  return Decision::refuse("recomputation",
                          fmt::format("{} operations are computed where {} are needed: {:.2f} times as many, {:.2f} is "
                                      "the limit",
                                      work.computed, work.needed, work.factor(), most_recomputation));
}

Decision judge_parallelism(const Plan& plan, const Target& target) {
  const auto& stages = plan.nest.stages.stages;
  const auto heaviest = std::max_element(stages.begin(), stages.end(), [](const Stage& a, const Stage& b) {
    return whole_operations(a) < whole_operations(b);
  });
  const int used = plan.nest.cores_used();
  if (used >= least_parallelism * target.cores) return Decision::allow();  // alone it cannot use more than there are
  const std::int64_t alone = cores_alone(plan.nest.stages, *heaviest, target.cores);
  if (used >= least_parallelism * static_cast<double>(alone)) return Decision::allow();
  return Decision::refuse(
      "lost-parallelism",
      fmt::format("the group uses {} cores, {} by itself would use {}; at least {:.0f} % of them are "
                  "asked for",
                  used, heaviest->name, alone, 100 * least_parallelism));
}

}  // namespace

GroupWork work_of(const Plan& plan) {
  GroupWork work;
  for (const Stage& stage : plan.nest.stages.stages) work.needed += whole_operations(stage);
  for (const auto& [id, totals] : plan.counts.compute) {
    const auto& compute = std::get<Compute>(find_statement(plan.nest, id)->node);
    if (compute.part == Compute::Part::finish) continue;
    const Stage& stage = plan.nest.stages.stages[static_cast<std::size_t>(compute.stage)];
    work.computed += totals.points * operations_a_point(stage);
  }
  return work;
}

Decision judge_group(const Plan& plan, const Target& target) {
  if (plan.nest.stages.stages.size() < 2) return Decision::allow();
  if (const auto unaligned = unaligned_transfers(plan.nest, target); !unaligned.empty())
    return Decision::refuse("dma-alignment", unaligned.front().reason);
  if (Decision decision = judge_recomputation(plan); !decision) return decision;
  return judge_parallelism(plan, target);
}

}  // namespace stowage
