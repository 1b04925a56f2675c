// SPDX-License-Identifier: Apache-2.0
// Building fused operators from sets of operators, and putting them in order.
#pragma once

#include <string>
#include <vector>

#include "fusion/facts/operator_facts.h"
#include "fusion/groups/fused_graph.h"

namespace stowage {

/// An operator with its role in a template.
struct Member {
  OpId op;
  std::string role;
};

/// A group of these operators, in topological order. `anchor` gives the name.
FusedOperator make_group(const GraphFacts& facts, std::string template_name, OpId anchor, std::vector<Member> members);
/// An operator alone: template "view" for a view, else "single".
FusedOperator make_single(const GraphFacts& facts, OpId op);

/// Groups in execution order; among those that are ready the one whose last operator comes first in topological order.
std::vector<FusedOperator> in_execution_order(const GraphFacts& facts, std::vector<FusedOperator> groups);

/// Tensors that a group reads from outside, in order of first use.
std::vector<TensorId> outside_inputs(const Graph& graph, const std::vector<OpId>& operators);

/// Whether any operator is in both.
bool share_operators(const std::vector<OpId>& a, const std::vector<OpId>& b);

/// "conv1 + relu1", for messages.
std::string names_of(const Graph& graph, const std::vector<OpId>& operators);
/// "conv1 + relu1 | pool1".
std::string groups_text(const Graph& graph, const std::vector<std::vector<OpId>>& groups);
std::vector<std::string> names_each(const Graph& graph, const std::vector<OpId>& operators);
/// "a, b and c"; a crowd is counted.
std::string listed(const Graph& graph, const std::vector<OpId>& operators);

}  // namespace stowage
