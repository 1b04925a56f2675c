// SPDX-License-Identifier: Apache-2.0
// A step of plan.json on its way back: first as it stands there, then, once there is a graph, as a group and its plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/json/json.h"
#include "fusion/groups/fused_graph.h"

namespace stowage {

/// A row of "steps", as it stands there: names belong to a graph that may not be read yet.
struct StoredStep {
  struct Stack {
    std::string whole;
    std::size_t axis = 0;
    std::vector<std::string> parts;
  };
  std::string name;
  std::string template_name;
  std::vector<std::string> operators;
  std::vector<std::string> roles;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;  ///< the tensors that it writes
  std::vector<Stack> stacks;
  std::optional<Json> launched;  ///< absent for a view; its family's to read (Backend::step_reader)
  std::string nest;              ///< the text beside it
};

/// Throws what the JSON library does, or std::invalid_argument.
StoredStep stored_step(const Json& json);

/// Its names become those of a graph. That the group is sound is verify(FusedGraph)'s to say.
FusedOperator read_group(const StoredStep& step, const Graph& graph);

}  // namespace stowage
