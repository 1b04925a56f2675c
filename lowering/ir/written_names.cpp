// SPDX-License-Identifier: Apache-2.0
#include "lowering/ir/written_names.h"

#include <cstddef>
#include <set>

#include <fmt/format.h>

#include "core/text_cursor.h"

namespace stowage {
namespace {

std::vector<std::string> written_names(const std::vector<std::string>& names) {
  std::vector<std::string> written;
  std::set<std::string> taken;
  for (const std::string& name : names) {
    std::string unique = name;
    for (int number = 2; !taken.insert(unique).second; ++number) unique = fmt::format("{}_{}", name, number);
    written.push_back(quoted_name(unique));
  }
  return written;
}

template <class List, class Name>
std::vector<std::string> written_names(const List& list, Name name) {
  std::vector<std::string> names;
  for (const auto& entry : list) names.push_back(name(entry));
  return written_names(names);
}

std::vector<std::string> numbered(char kind, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}{}", kind, i));
  return names;
}

}  // namespace

std::string WrittenNames::iterator(const std::string& name) const {
  const auto known = iterators.find(name);
  if (known != iterators.end()) return known->second;
  return by_position ? quoted(name) : quoted_name(name);
}

WrittenNames own_names(const LoopNest& nest) {
  using Texts = std::vector<std::string>;
  const auto own = [](const auto& entry) { return entry.name; };
  WrittenNames names;
  names.variables = written_names(nest.variables, own);
  names.stage_tensors = IdVector<StageTensorId, std::string>(written_names(nest.stages.tensors, own));
  names.stages = IdVector<StageId, std::string>(written_names(nest.stages.stages, own));
  names.tensors = IdVector<NestTensorId, std::string>(written_names(nest.tensors, own));
  names.buffers = IdVector<BufferId, std::string>(written_names(nest.buffers, own));
  for (const Stage& stage : nest.stages.stages) names.axes.push_back(Texts(written_names(stage.axes, own)));
  return names;
}

WrittenNames names_by_position(const LoopNest& nest) {
  WrittenNames names;
  names.by_position = true;
  names.variables = numbered('v', nest.variables.size());
  names.stage_tensors = IdVector<StageTensorId, std::string>(numbered('t', nest.stages.tensors.size()));
  names.stages = IdVector<StageId, std::string>(numbered('s', nest.stages.stages.size()));
  names.tensors = IdVector<NestTensorId, std::string>(numbered('m', nest.tensors.size()));
  names.buffers = IdVector<BufferId, std::string>(numbered('b', nest.buffers.size()));
  for (const Stage& stage : nest.stages.stages) {
    names.axes.push_back(numbered('x', stage.axes.size()));
    for (const Axis& axis : stage.axes) names.iterators.emplace(axis.name, fmt::format("i{}", names.iterators.size()));
  }
  return names;
}

}  // namespace stowage
