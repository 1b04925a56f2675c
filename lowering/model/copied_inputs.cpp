// SPDX-License-Identifier: Apache-2.0
#include "lowering/model/copied_inputs.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/decision_rules.h"
#include "core/same_padding.h"

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

}  // namespace

CopiedInputs possible_copied_inputs(const StageList& stages) {
  CopiedInputs inputs;
  for (const StageTensorId t : stages.tensors.ids()) {
    const std::string& name = stages.tensors[t].name;
    if (why_not_copied(stages, t).empty() && !tensor_named(stages, name_of_copy(name))) inputs.insert(name);
  }
  return inputs;
}

std::variant<StageList, Decision> copy_inputs(StageList stages, const CopiedInputs& inputs) {
  IdVector<StageId, Stage> copies;
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
  }
  if (copies.empty()) return stages;
  for (Stage& stage : stages.stages) copies.push_back(std::move(stage));
  stages.stages = std::move(copies);
  return stages;
}

}  // namespace stowage
