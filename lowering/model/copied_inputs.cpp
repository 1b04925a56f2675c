// SPDX-License-Identifier: Apache-2.0
#include "lowering/model/copied_inputs.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/decision_rules.h"
#include "core/same_padding.h"
#include "lowering/model/group_model.h"

namespace stowage {
namespace {

std::string name_of_copy(const std::string& input) { return input + "_copy"; }

std::optional<StageTensorId> tensor_named(const StageList& list, const std::string& name) {
  const auto found = std::find_if(list.tensors.begin(), list.tensors.end(),
                                  [&](const StageTensor& tensor) { return tensor.name == name; });
  if (found == list.tensors.end()) return std::nullopt;
  return list.tensors.id_of(*found);
}

/// Why what readers see of a tensor cannot be a padded copy; empty where it can.
std::string why_not_copied(const StageList& list, StageTensorId input) {
  const StageTensor& tensor = list.tensors[input];
  if (tensor.role != TensorRole::input) return fmt::format("{} is no input of it", tensor.name);
  std::optional<double> padding;
  for (const Stage& stage : list.stages) {
    for (const Access& read : stage.reads) {
      if (read.tensor != input || !read.padding) continue;
      if (padding && !same_padding(padding, read.padding)) {
        return fmt::format("outside of {} its readers see different values", tensor.name);
      }
      padding = read.padding;
      const bool looked_up = std::any_of(read.index.begin(), read.index.end(),
                                         [](const IndexExpr& e) { return !tensor_values_of(e).empty(); });
      if (looked_up) return fmt::format("where {} is read depends on the value of another tensor", tensor.name);
    }
  }
  return padding ? "" : fmt::format("nobody looks outside of {}", tensor.name);
}

Stage copy_stage(const StageList& list, StageTensorId from, StageTensorId to) {
  const StageTensor& tensor = list.tensors[from];
  Stage copy;
  copy.name = name_of_copy(tensor.name);
  copy.output = to;
  Access read{from, {}, std::nullopt};
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    copy.axes.push_back({fmt::format("i{}", d), tensor.shape[d]});
    read.index.emplace_back(VarId(d));
  }
  copy.spatial = tensor.shape.size();
  copy.reads.push_back(std::move(read));
  copy.body = scalar_read(tensor.type, ReadId(0));
  return copy;
}

/// Its stage, and the readers turned to its result.
Stage add_copy(StageList& list, StageTensorId input) {
  StageTensor copied;
  copied.name = name_of_copy(list.tensors[input].name);
  copied.type = list.tensors[input].type;
  copied.shape = list.tensors[input].shape;
  copied.role = TensorRole::intermediate;
  const StageTensorId copy = list.tensors.push_back(std::move(copied));
  for (Stage& stage : list.stages) {
    for (Access& read : stage.reads) {
      if (read.tensor == input && read.padding) read.tensor = copy;
    }
  }
  return copy_stage(list, input, copy);
}

/// Whether other readers want of a stage what its own want, or all of their windows. What moves with a reduction alone,
/// channels of a convolution, would be wanted as a whole.
bool same_demands(const StageList& own, const StageList& with_others, StageId stage) {
  const GroupModel model = model_of_no_target(own);
  const GroupModel others = model_of_no_target(with_others);
  for (const VarId axis : own.stages[stage].spatial_axes()) {
    const AxisDemand wanted = with_whole_reductions(model.demands[stage][axis], model);
    const AxisDemand now = with_whole_reductions(others.demands[stage][axis], others);
    const bool same = wanted.exact && now.exact && wanted.tile == now.tile && wanted.window == now.window;
    const bool moves = !now.tile.is_constant() || model.demands[stage][axis].tile == now.tile;
    if (!same || !moves) return false;
  }
  return true;
}

/// The other readers of a copied input turned to its copy as well, where that is no larger for them: the centre of a
/// window (of LRN, say) is loaded with the window.
StageList with_other_readers(StageList list, StageTensorId input, StageTensorId copy) {
  StageList turned = list;
  StageId copying;
  bool any = false;
  for (const StageId s : turned.stages.ids()) {
    Stage& stage = turned.stages[s];
    if (stage.output == copy) {
      copying = s;
      continue;
    }
    for (Access& read : stage.reads) {
      if (read.tensor != input) continue;
      read.tensor = copy;
      any = true;
    }
  }
  return any && same_demands(list, turned, copying) ? turned : list;
}

}  // namespace

CopiedInputs possible_copied_inputs(const StageList& stages) {
  CopiedInputs inputs;
  for (const StageTensorId t : stages.tensors.ids()) {
    const std::string& name = stages.tensors[t].name;
    if (why_not_copied(stages, t).empty() && !tensor_named(stages, name_of_copy(name))) inputs.insert(name);
  }
  return inputs;
}

std::variant<StageList, Decision> copy_inputs(StageList stages, const CopiedInputs& inputs, CopyReaders readers) {
  IdVector<StageId, Stage> copies;
  std::vector<std::pair<StageTensorId, StageTensorId>> copied;
  for (const std::string& name : inputs) {
    const auto refused = [&](const std::string& why) {
      return Decision::refuse(schedule_rule, fmt::format("copied: {} cannot be copied: {}", name, why));
    };
    const auto input = tensor_named(stages, name);
    if (!input) return refused("there is no such tensor");
    const auto copy = tensor_named(stages, name_of_copy(name));
    if (copy && stages.tensors[*copy].role == TensorRole::intermediate) continue;
    if (copy) return refused(fmt::format("there is another tensor {}", name_of_copy(name)));
    if (const std::string why = why_not_copied(stages, *input); !why.empty()) return refused(why);
    copies.push_back(add_copy(stages, *input));
    copied.emplace_back(*input, copies.back().output);
  }
  if (copies.empty()) return stages;
  for (Stage& stage : stages.stages) copies.push_back(std::move(stage));
  stages.stages = std::move(copies);
  for (const auto& [input, copy] : copied) {
    if (readers == CopyReaders::all) stages = with_other_readers(std::move(stages), input, copy);
  }
  return stages;
}

}  // namespace stowage
