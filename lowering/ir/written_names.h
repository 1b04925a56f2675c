// SPDX-License-Identifier: Apache-2.0
// What things are called in the text of a nest.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/id_vector.h"
#include "core/ids.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

struct WrittenNames {
  std::vector<std::string> variables;
  IdVector<StageTensorId, std::string> stage_tensors;
  IdVector<StageId, std::string> stages;
  IdVector<NestTensorId, std::string> tensors;
  IdVector<BufferId, std::string> buffers;
  IdVector<StageId, std::vector<std::string>> axes;
  bool by_position = false;  ///< then the text is only compared, and leaves out what else equal nests may differ in
  std::map<std::string, std::string> iterators;  ///< where names are by position: axes of one name are one iterator

  [[nodiscard]] std::string iterator(const std::string& name) const;
};

/// The nest's own, with "_2", "_3" … where two things share one, and quoted where they are no identifiers.
WrittenNames own_names(const LoopNest& nest);

/// A letter and a number: "b0", "b1" …
WrittenNames names_by_position(const LoopNest& nest);

}  // namespace stowage
