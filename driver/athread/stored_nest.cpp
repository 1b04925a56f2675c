// SPDX-License-Identifier: Apache-2.0
#include "driver/athread/stored_nest.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/identifiers.h"
#include "core/text_cursor.h"
#include "driver/json/damage.h"
#include "lowering/ir/loop_nest_parser.h"
#include "lowering/model/group_model.h"
#include "lowering/program/canonical_stages.h"

namespace stowage {

namespace {

using Broken = std::optional<std::string>;

LoopNest parsed(const std::string& text, const StageList& defined, UnknownValues& unknown) {
  std::map<std::string, Tensor> constants;
  std::int64_t bytes = 0;
  for (const StageTensor& tensor : defined.tensors) {
    if (!tensor.value) continue;
    constants.emplace(tensor.name, *tensor.value);
    bytes += static_cast<std::int64_t>(tensor.value->bytes().size());
  }
  Diagnostics diagnostics;
  auto nest = parse_loop_nest(text, diagnostics, constants, "nest", &unknown, bytes);
  if (nest) return *std::move(nest);
  const Diagnostic& first = diagnostics.entries().front();
  throw Damage(fmt::format("line {}: {}", first.location.line, first.message));
}

/// Names of a nest go into C; lowering makes all of them of letters, digits and underscores.
Broken other_names(const LoopNest& nest, const FusedOperator& group) {
  if (nest.name != identifier_of(group.name)) return fmt::format("it is called {}", quoted_name(nest.name));
  std::vector<std::string> names;
  for (const StageTensor& tensor : nest.stages.tensors) names.push_back(tensor.name);
  for (const Stage& stage : nest.stages.stages) {
    names.push_back(stage.name);
    for (const Axis& axis : stage.axes) names.push_back(axis.name);
  }
  const auto odd =
      std::find_if(names.begin(), names.end(), [](const std::string& name) { return identifier_of(name) != name; });
  return odd == names.end() ? std::nullopt : Broken(fmt::format("{} is no identifier", quoted_name(*odd)));
}

bool same_value(const StageTensor& stored, const StageTensor& defined, const std::string* hash) {
  if (stored.value.has_value() != defined.value.has_value()) return false;
  if (!stored.value) return true;
  if (hash != nullptr) return hash_text(*defined.value) == *hash;
  const auto bytes = stored.value->bytes();
  const auto wanted = defined.value->bytes();
  return std::equal(bytes.begin(), bytes.end(), wanted.begin(), wanted.end());
}

/// That the stages are those of the group, by form. What the text leaves out (places in memory) and what it may not
/// know (values of constants, where a version called them otherwise) then comes from the group.
Broken take_definitions(StageList& stored, const StageList& defined, const UnknownValues& unknown) {
  if (stored.tensors.size() != defined.tensors.size()) return "it has other tensors than its operators";
  for (const StageTensorId t : stored.tensors.ids()) {
    StageTensor& tensor = stored.tensors[t];
    const auto hash = unknown.find(t);
    if (tensor.source != defined.tensors[t].source)
      return fmt::format("{} is another tensor of the graph", tensor.name);
    if (tensor.packing != defined.tensors[t].packing) return fmt::format("{} is packed otherwise", tensor.name);
    if (!same_value(tensor, defined.tensors[t], hash == unknown.end() ? nullptr : &hash->second)) {
      return fmt::format("{} has another value", tensor.name);
    }
    tensor.value = defined.tensors[t].value;
    tensor.strides = defined.tensors[t].strides;
  }
  if (canonical_stages(stored).text != canonical_stages(defined).text) return "it computes something else";
  return std::nullopt;
}

}  // namespace

LoopNest read_nest(const std::string& text, const Graph& graph, const FusedOperator& group, const StageForm& form) {
  const auto refuse = [&](const std::string& reason) {
    throw Damage(fmt::format("the loop nest of '{}': {}", group.name, reason));
  };
  const auto shaped = in_form(group_stages(graph, group), form);
  if (const auto* refused = std::get_if<Decision>(&shaped)) refuse(refused->reason);
  const auto& defined = std::get<StageList>(shaped);
  UnknownValues unknown;
  LoopNest nest;
  try {
    nest = parsed(text, defined, unknown);
  } catch (const Damage& failure) {
    refuse(failure.what());
  }
  if (const auto broken = other_names(nest, group)) refuse(*broken);
  auto broken_definition = take_definitions(nest.stages, defined, unknown);
  constexpr FormRules of_earlier_versions[] = {{LaneFollowers::products, CopyReaders::all},
                                               {LaneFollowers::products, CopyReaders::that_pad}};
  for (const FormRules& rules : of_earlier_versions) {
    if (!broken_definition) break;
    const auto earlier = in_form(group_stages(graph, group), form, rules);
    if (const auto* stages = std::get_if<StageList>(&earlier);
        stages && !take_definitions(nest.stages, *stages, unknown))
      broken_definition.reset();
  }
  if (broken_definition) refuse(*broken_definition);
  return nest;
}

std::optional<std::string> other_memory(const LoopNest& nest, const GroupModel& model) {
  std::vector<StageTensorId> transferred;
  for (const ModelBuffer& buffer : model.buffers) {
    if (buffer.kind != ModelBuffer::Kind::intermediate) transferred.push_back(buffer.tensor);
  }
  std::sort(transferred.begin(), transferred.end());
  transferred.erase(std::unique(transferred.begin(), transferred.end()), transferred.end());
  const auto same = [&](const NestTensor& in_memory, StageTensorId wanted) {
    const StageTensor& tensor = nest.stages.tensors[wanted];
    return in_memory.tensor == wanted && in_memory.written == (tensor.role == TensorRole::output) &&
           in_memory.strides == tensor.memory_strides();
  };
  if (std::equal(nest.tensors.begin(), nest.tensors.end(), transferred.begin(), transferred.end(), same)) {
    return std::nullopt;
  }
  return "its tensors in memory are not those that the graph has there";
}

}  // namespace stowage
