// SPDX-License-Identifier: Apache-2.0
// The static map of main memory. Lifetimes are whole steps, so a step's inputs and its output never share a byte;
// tensors with memory of their own are placed by falling size, each at the lowest offset that no tensor alive at the
// same time takes. What lies in a box of another tensor comes with it and prolongs its life.
#include "lowering/program/memory_map.h"

#include <algorithm>
#include <map>

#include "core/check.h"
#include "core/storage_box.h"
#include "lowering/program/program.h"

namespace stowage {
namespace {

class MemoryPlanner {
 public:
  MemoryPlanner(const FusedGraph& fused, const IdVector<StepId, ProgramStep>& steps, int line_bytes)
      : graph_(fused.graph), steps_(steps), line_bytes_(line_bytes) {
    check(line_bytes > 0, "a memory line without bytes");
  }

  MemoryMap plan() {
    collect_uses();
    place_parameters();
    place_activations();
    place_boxes();
    for (auto& [tensor, place] : places_) map_.allocations.push_back(place);
    return std::move(map_);
  }

 private:
  [[nodiscard]] std::int64_t aligned(std::int64_t bytes) const {
    return (bytes + line_bytes_ - 1) / line_bytes_ * line_bytes_;
  }

  [[nodiscard]] std::int64_t bytes_of(TensorId tensor) const {
    const GraphTensor& t = graph_.tensor(tensor);
    return box_reach(t.shape, box_of(graph_, tensor).strides) * byte_size(t.type);
  }

  /// The tensor whose memory a tensor lies in.
  [[nodiscard]] TensorId storage_of(TensorId tensor) const {
    const auto& inside = graph_.tensor(tensor).inside;
    return inside ? inside->storage : tensor;
  }

  void note_use(TensorId tensor, int step) {
    MemoryAllocation& place = places_
                                  .try_emplace(tensor, MemoryAllocation{tensor, MemoryAllocation::Area::activations, 0,
                                                                        bytes_of(tensor), step, step, std::nullopt})
                                  .first->second;
    place.first_step = std::min(place.first_step, step);
    place.last_step = std::max(place.last_step, step);
  }

  /// Memory is needed from the first use of anything in it to the last.
  void use(TensorId tensor, int step) {
    note_use(tensor, step);
    if (storage_of(tensor) != tensor) note_use(storage_of(tensor), step);
  }

  void collect_uses() {
    for (const TensorId input : graph_.inputs()) use(input, -1);
    int now = 0;
    for (const ProgramStep& step : steps_) {
      if (const StepPlan* planned = step.step_plan()) {
        for (const StageTensorId tensor : planned->memory_tensors()) {
          const auto source = planned->stages().tensors[tensor].in_memory();
          if (source) use(*source, now);
        }
      } else {
        // Shape operands of a view are not read when the program runs.
        for (const auto& operand : graph_.op(step.group.operators.front()).inputs) {
          if (operand && storage_of(*operand) == storage_of(step.group.results.front().whole)) use(*operand, now);
        }
      }
      for (const TensorId stored : stored_by(step.group)) use(stored, now);
      ++now;
    }
    for (const TensorId output : graph_.outputs()) use(output, now);
  }

  [[nodiscard]] bool is_parameter(TensorId tensor) const { return graph_.tensor(tensor).constant.has_value(); }

  void place_parameters() {
    for (auto& [tensor, place] : places_) {
      if (storage_of(tensor) != tensor || !is_parameter(tensor)) continue;
      place.area = MemoryAllocation::Area::parameters;
      place.offset = map_.parameter_bytes;
      map_.parameter_bytes += aligned(place.bytes);
    }
    std::vector<std::pair<const Tensor*, std::int64_t>> placed;
    for (const StepId s : steps_.ids()) {
      const StepPlan* const planned = steps_[s].step_plan();
      if (planned == nullptr) continue;
      for (const StageTensorId used : planned->memory_tensors()) {
        const StageTensor& tensor = planned->stages().tensors[used];
        if (tensor.in_memory()) continue;
        check(tensor.value.has_value(), "a tensor in main memory that is neither the graph's nor a constant");
        const Tensor& value = *tensor.value;
        const auto bytes = static_cast<std::int64_t>(value.bytes().size());
        auto same = std::find_if(placed.begin(), placed.end(), [&](const auto& other) {
          return other.first->type() == value.type() &&
                 std::equal(value.bytes().begin(), value.bytes().end(), other.first->bytes().begin(),
                            other.first->bytes().end());
        });
        if (same == placed.end()) {
          same = placed.insert(placed.end(), {&value, map_.parameter_bytes});
          map_.parameter_bytes += aligned(bytes);
        }
        map_.stage_constants.push_back({s, used, same->second, bytes});
      }
    }
  }

  void place_activations() {
    std::vector<MemoryAllocation*> order;
    for (auto& [tensor, place] : places_) {
      if (storage_of(tensor) == tensor && !is_parameter(tensor)) order.push_back(&place);
    }
    std::stable_sort(order.begin(), order.end(), [](const MemoryAllocation* a, const MemoryAllocation* b) {
      return a->bytes != b->bytes ? a->bytes > b->bytes : a->first_step < b->first_step;
    });
    std::vector<const MemoryAllocation*> placed;  // by offset
    for (MemoryAllocation* place : order) {
      std::int64_t offset = 0;
      for (const MemoryAllocation* other : placed) {
        if (other->last_step < place->first_step || place->last_step < other->first_step) continue;
        if (offset + aligned(place->bytes) <= other->offset) break;
        offset = std::max(offset, other->offset + aligned(other->bytes));
      }
      place->offset = offset;
      map_.activation_bytes = std::max(map_.activation_bytes, offset + aligned(place->bytes));
      placed.insert(
          std::upper_bound(placed.begin(), placed.end(), place,
                           [](const MemoryAllocation* a, const MemoryAllocation* b) { return a->offset < b->offset; }),
          place);
    }
  }

  void place_boxes() {
    for (auto& [tensor, place] : places_) {
      const auto& inside = graph_.tensor(tensor).inside;
      if (!inside) continue;
      const MemoryAllocation& storage = places_.at(inside->storage);
      place.area = storage.area;
      place.offset = storage.offset + inside->offset * byte_size(graph_.tensor(tensor).type);
      place.shares_with = storage.tensor;
    }
  }

  const Graph& graph_;
  const IdVector<StepId, ProgramStep>& steps_;
  std::int64_t line_bytes_;
  std::map<TensorId, MemoryAllocation> places_;
  MemoryMap map_;
};

}  // namespace

const MemoryAllocation* MemoryMap::find(TensorId tensor) const {
  const auto at = std::lower_bound(allocations.begin(), allocations.end(), tensor,
                                   [](const MemoryAllocation& place, TensorId id) { return place.tensor < id; });
  return at != allocations.end() && at->tensor == tensor ? &*at : nullptr;
}

const StageConstantAllocation* MemoryMap::find_stage_constant(StepId step, StageTensorId tensor) const {
  const auto at =
      std::find_if(stage_constants.begin(), stage_constants.end(),
                   [&](const StageConstantAllocation& place) { return place.step == step && place.tensor == tensor; });
  return at != stage_constants.end() ? &*at : nullptr;
}

MemoryMap plan_memory(const FusedGraph& fused, const IdVector<StepId, ProgramStep>& steps, int line_bytes) {
  return MemoryPlanner(fused, steps, line_bytes).plan();
}

}  // namespace stowage
