// SPDX-License-Identifier: Apache-2.0
#include "lowering/search/physical_limit.h"

#include <algorithm>
#include <map>

#include "lowering/ir/compute_form.h"
#include "lowering/search/core_needs.h"
#include "lowering/search/io_bound.h"
#include "lowering/time/rates.h"

namespace stowage {

namespace {

/// Of the operands of the product that has most to load again: bytes beside those once.
std::int64_t most_loaded_again(const StageList& stages, const std::map<StageTensorId, std::int64_t>& once,
                               const CoreNeeds& needs, const Target& target) {
  double most = 0;
  for (const StageId s : stages.stages.ids()) {
    const Stage& stage = stages.stages[s];
    bool is_whole = true;
    for (std::size_t a = 0; a < stage.spatial; ++a)
      is_whole = is_whole && needs.axis(s, a).count == stage.axes[a].extent;
    if (!is_whole) continue;
    const double loads = least_operand_loads(stages, stage, target);
    if (loads <= 0) continue;
    double bytes_once = 0;
    int narrowest = byte_size(stages.tensors[stage.output].type);
    for (const Access& read : stage.reads) {
      const int size = byte_size(stages.tensors[read.tensor].type);
      const auto found = once.find(read.tensor);
      if (found != once.end()) bytes_once += static_cast<double>(found->second * size);
      narrowest = std::min(narrowest, size);
    }
    most = std::max(most, loads * narrowest - bytes_once);
  }
  return static_cast<std::int64_t>(most);
}

}  // namespace

PhysicalLimit physical_limit(const StageList& stages, const Target& target) {
  const GroupModel model = build_group_model(stages, target);
  CoreNeeds needs(model);  // as if one core did all
  IdVector<IteratorId, Interval> whole;
  for (const ModelIterator& iterator : model.iterators) whole.push_back({0, iterator.extent - 1});
  needs.find(whole);

  PhysicalLimit limit;
  std::map<StageTensorId, std::int64_t> elements;  // by tensor: several buffers may hold the same ones
  bool loads = false, stores = false;
  for (const ModelBuffer& buffer : model.buffers) {
    if (buffer.kind == ModelBuffer::Kind::intermediate) continue;
    std::int64_t wanted = 1;
    for (std::size_t d = 0; d < buffer.index.size(); ++d) wanted *= needs.dimension(buffer, d).count;
    (buffer.kind == ModelBuffer::Kind::output ? stores : loads) = true;
    std::int64_t& most = elements[buffer.tensor];
    most = std::max(most, wanted);
  }
  for (const auto& [tensor, count] : elements) {
    limit.bytes += count * byte_size(stages.tensors[tensor].type);
  }
  limit.bytes += most_loaded_again(stages, elements, needs, target);
  limit.moving_seconds = static_cast<double>(limit.bytes) / peak_dma_bandwidth(target);
  limit.critical_path_seconds = ((loads ? 1 : 0) + (stores ? 1 : 0)) * target.dma.startup_cycles / target.clock_hz;

  double cycles = 0;  // of one core
  const auto compute = [&](const Stage& stage, Compute::Part part, double points) {
    const ElementType type = result_type(stage, part);
    const double rate = std::max(operations_per_cycle(target, type, false), operations_per_cycle(target, type, true));
    // What only moves elements is no computation, so that the copies which a plan makes do not count. Nor does what
    // adds up the parts of a split sum.
    if (std::any_of(stage.reads.begin(), stage.reads.end(),
                    [&](const Access& read) { return stages.tensors[read.tensor].exchanged; }) &&
        part == Compute::Part::update)
      return;
    const bool is_update = part == Compute::Part::update;
    const auto operations = operation_count(part == Compute::Part::finish ? stage.finish : stage.body);
    cycles += points * static_cast<double>(operations + (is_update ? 1 : 0)) / rate;
  };
  for (const StageId s : stages.stages.ids()) {
    const Stage& stage = stages.stages[s];
    double points = 1;
    for (std::size_t a = 0; a < stage.spatial; ++a) points *= static_cast<double>(needs.axis(s, a).count);
    double terms = points;
    for (std::size_t a = stage.spatial; a < stage.axes.size(); ++a) terms *= static_cast<double>(stage.axes[a].extent);
    compute(stage, stage.reduction == Reduction::none ? Compute::Part::map : Compute::Part::update, terms);
    if (stage.finish) compute(stage, Compute::Part::finish, points);
  }
  limit.computing_seconds = cycles / target.clock_hz / target.cores.count;
  return limit;
}

}  // namespace stowage
