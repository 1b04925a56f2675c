// SPDX-License-Identifier: Apache-2.0
// A step of plan.json on its way back: first as it stands there, then, once there is a graph, as a group and its plan.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "driver/json/json.h"
#include "lowering/nest/plan.h"
#include "lowering/verify/verify.h"

namespace stowage {

/// What is wrong with a folder; becomes one diagnostic.
class Damage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A text that stands in a file as an array of lines.
std::string joined(const Json& lines);

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
  std::string output;
  std::vector<Stack> stacks;
  std::optional<Schedule> schedule;  ///< absent for a view
  std::string nest;                  ///< its text
};

/// Throws what the JSON library does, or std::invalid_argument.
StoredStep stored_step(const Json& json);

/// Its names become those of a graph. That the group is sound is verify(FusedGraph)'s to say.
FusedOperator read_group(const StoredStep& step, const Graph& graph);

/// Of a sound group: what must hold of a planner's plan holds of the stored one too. The schedule is complete, as a
/// person may fix it, and lowered again; the nest must be sound and print as the stored text.
Plan read_plan(const StoredStep& step, const Graph& graph, const FusedOperator& group, const Target& target);

}  // namespace stowage
