// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/io_bound.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "core/athread_machine.h"
#include "core/factors.h"

namespace stowage {
namespace {

constexpr std::int64_t most_counted = 1 << 16;  // values of an index that are looked at one by one

/// What a product reads of one tensor.
struct Operand {
  StageTensorId tensor;
  std::set<VarId> axes;  ///< that its index mentions, of more than one element
  double reuse = 1;      ///< different values of these axes at most that read the same element
  double inside = 1;     ///< of all their values those that read an element, and no padding, as a share
};

/// Of one dimension: how often it has each value. Nothing where that is not known, or takes too long to find out.
std::optional<std::map<std::int64_t, std::int64_t>> values_of(const IndexExpr& index, const std::vector<Axis>& axes) {
  std::map<std::int64_t, std::int64_t> values = {{index.constant(), 1}};
  for (const IndexTerm& term : index.terms()) {
    const std::int64_t extent = axes[term.atom.variable.index()].extent;
    if (static_cast<std::int64_t>(values.size()) > most_counted / std::max<std::int64_t>(1, extent))
      return std::nullopt;
    std::map<std::int64_t, std::int64_t> longer;
    for (const auto& [value, times] : values) {
      for (std::int64_t i = 0; i < extent; ++i) longer[value + i * term.coefficient] += times;
    }
    values = std::move(longer);
  }
  return values;
}

std::optional<Operand> operand_of(const StageList& stages, const Stage& stage, ReadId read) {
  const Access& access = stage.reads[read];
  Operand operand;
  operand.tensor = access.tensor;
  const StageTensor& tensor = stages.tensors[access.tensor];
  if (tensor.role != TensorRole::input && tensor.role != TensorRole::constant) return std::nullopt;
  for (std::size_t d = 0; d < access.index.size(); ++d) {
    if (!access.index[d].is_affine()) return std::nullopt;
    std::size_t moving = 0;
    for (const VarId v : variables_of(access.index[d])) {
      if (stage.axes[v.index()].extent <= 1) continue;
      ++moving;
      if (!operand.axes.insert(v).second) return std::nullopt;  // a diagonal
    }
    if (moving <= 1 && !access.padding) continue;  // another element for each value
    const auto values = values_of(access.index[d], stage.axes);
    if (!values) return std::nullopt;
    std::int64_t all = 0, inside = 0, most = 0;
    for (const auto& [value, times] : *values) {
      all += times;
      if (access.padding && (value < 0 || value >= tensor.shape[d])) continue;
      inside += times;
      most = std::max(most, times);
    }
    operand.reuse *= static_cast<double>(most);
    operand.inside *= static_cast<double>(inside) / static_cast<double>(all);
  }
  return operand;
}

}  // namespace

double least_operand_loads(const StageList& stages, const Stage& stage, const Target& target) {
  const auto factors = factors_of(stage);
  if (!factors) return 0;
  const auto a = operand_of(stages, stage, factors->first);
  const auto b = operand_of(stages, stage, factors->second);
  if (!a || !b || a->tensor == b->tensor) return 0;
  if (a->inside < 1 && b->inside < 1) return 0;  // which of them are in both is not looked into
  double products = a->inside * b->inside, sums = 1;
  for (std::size_t v = 0; v < stage.axes.size(); ++v) {
    if (stage.axes[v].extent <= 1) continue;
    const bool of_sum = v < stage.spatial;
    if (static_cast<int>(a->axes.contains(VarId(v))) + static_cast<int>(b->axes.contains(VarId(v))) + (of_sum ? 1 : 0) <
        2)
      return 0;
    products *= static_cast<double>(stage.axes[v].extent);
    if (of_sum) sums *= static_cast<double>(stage.axes[v].extent);
  }
  constexpr std::int64_t vector_registers = 2 * register_block_sums;
  const double bytes = static_cast<double>(target.ldm.bytes + vector_registers * bytes_of_register);
  const bool together = target.dma.row_broadcast || target.cores.column_broadcast;
  const double memories = together ? 1 : target.cores.count;
  const int narrowest = std::min({byte_size(stages.tensors[a->tensor].type), byte_size(stages.tensors[b->tensor].type),
                                  byte_size(stages.tensors[stage.output].type)});
  const double held = bytes * target.cores.count / memories / narrowest;
  return std::max(0.0, 2 * products / std::sqrt(a->reuse * b->reuse * held) - 2 * held * memories - sums);
}

}  // namespace stowage
