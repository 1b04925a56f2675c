// SPDX-License-Identifier: Apache-2.0
// Changes of the template that lift refusals of structure: other roles, or more operators in the group. They are tried:
// with what is named the group is legal.
#pragma once

#include <functional>
#include <string>

#include "fusion/facts/operator_facts.h"
#include "fusion/groups/fused_graph.h"

namespace stowage {

/// True of a group that breaks no rule of structure.
using IsLegal = std::function<bool(const FusedOperator&)>;

/// The fewest members in other roles: "a template that takes relu as 'epilogue'". Empty where no roles make it legal.
std::string change_of_roles(const GraphFacts& facts, const FusedOperator& group, const IsLegal& legal);

/// The nearest operator in which the group's results meet, with what lies on the way: "a template that takes add too".
/// Empty where they do not meet nearby, or not legally.
std::string change_to_one_output(const GraphFacts& facts, const FusedOperator& group, const IsLegal& legal);

/// What lies between the group's operators: "a template that takes tanh too". Empty where that is not legal.
std::string change_to_convex(const GraphFacts& facts, const FusedOperator& group, const IsLegal& legal);

}  // namespace stowage
