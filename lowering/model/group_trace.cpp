// SPDX-License-Identifier: Apache-2.0
#include "lowering/model/group_trace.h"

namespace stowage {

GroupNames names_of(const GroupModel& model) {
  GroupNames names;
  for (const ModelIterator& iterator : model.iterators) names.iterators.push_back(iterator.name);
  for (const ModelBuffer& buffer : model.buffers) names.buffers.push_back(buffer.name);
  return names;
}

GroupTrace group_trace(TraceSink trace, const std::string& subject, const GroupModel& model) {
  if (!trace.listening()) return {};
  return {trace, subject, std::make_shared<const GroupNames>(names_of(model))};
}

std::vector<TracedSplit> traced(const GroupModel& model, const std::vector<ParallelSplit>& parallel) {
  std::vector<TracedSplit> splits;
  for (const ParallelSplit& split : parallel) {
    if (const auto iterator = model.iterator_named(split.iterator)) {
      splits.push_back({*iterator, split.parts});
    }
  }
  return splits;
}

}  // namespace stowage
