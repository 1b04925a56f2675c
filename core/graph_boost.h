// SPDX-License-Identifier: Apache-2.0
// The storage of a Graph, for the sources of core and fusion that run Boost.Graph algorithms.
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <unordered_map>

#include "core/graph.h"

namespace stowage {

/// One operand of one operator: tensor `tensor` from the source vertex into operand slot `slot` of the target vertex.
struct GraphEdge {
  TensorId tensor;
  int slot = 0;
};

using BoostGraph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, boost::no_property, GraphEdge>;

struct GraphStorage {
  std::string name;
  std::vector<Operator> operators;  ///< vertex index = position
  std::vector<GraphTensor> tensors;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  BoostGraph boost;
  std::unordered_map<std::string, TensorId> tensor_by_name;  // looked up, never iterated
  std::unordered_map<std::string, OpId> operator_by_name;
};

}  // namespace stowage
