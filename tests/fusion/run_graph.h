// SPDX-License-Identifier: Apache-2.0
// Runs graphs operator by operator, and fused graphs group by group, by plain evaluation.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "core/evaluate.h"
#include "core/operators.h"
#include "fusion/groups/fused_graph.h"

namespace stowage::testing {

using Values = std::map<std::string, Tensor>;  ///< by name of the graph's tensor

/// Evaluates a list whose boundary tensors have sources, and stores its output.
inline void run_list(const Graph& graph, const StageList& list, Values& values) {
  std::vector<Tensor> inputs;
  for (const StageTensor& tensor : list.tensors) {
    if (tensor.role == TensorRole::input) inputs.push_back(values.at(graph.tensor(*tensor.source).name));
  }
  const IdVector<StageTensorId, Tensor> results = evaluate(list, inputs);
  for (const StageTensorId t : results.ids()) {
    if (list.tensors[t].role == TensorRole::output) values[graph.tensor(*list.tensors[t].source).name] = results[t];
  }
}

inline Values run_operators(const Graph& graph, Values values) {
  for (const OpId op : topological_order(graph)) run_list(graph, define_operator(graph, op).list, values);
  return values;
}

/// What a group stores as one of its results: its value, or those of branches one behind the other.
inline Tensor stored_value(const Graph& graph, const TensorStack& result, const Values& values) {
  if (!result.joins()) return values.at(graph.tensor(result.whole).name);
  std::vector<Tensor> parts;
  for (const TensorId part : result.parts) parts.push_back(values.at(graph.tensor(part).name));
  return concatenated(parts, result.axis);
}

/// The same of the result that a tensor of the group's stages stands for.
inline Tensor stored_value(const Graph& graph, const FusedOperator& group, const StageTensor& tensor,
                           const Values& values) {
  for (const TensorStack& result : group.results) {
    if (result.whole == tensor.source) return stored_value(graph, result, values);
  }
  throw std::logic_error("a group does not store " + tensor.name);
}

inline Values run_groups(const FusedGraph& fused, Values values) {
  for (const FusedOperator& group : fused.groups) {
    run_list(fused.graph, group_stages(fused.graph, group), values);
    for (const TensorStack& stack : group.results) {
      if (!stack.joins()) continue;
      std::int64_t first = 0;
      for (const TensorId id : stack.parts) {
        const GraphTensor& part = fused.graph.tensor(id);
        values[part.name] =
            part_of(values.at(fused.graph.tensor(stack.whole).name), stack.axis, first, part.shape[stack.axis]);
        first += part.shape[stack.axis];
      }
    }
  }
  return values;
}

/// Largest difference, infinite where there is a NaN; elements never computed (NaN) are passed over where `partial`
/// says that there may be some.
inline double largest_difference(const Tensor& actual, const Tensor& expected, bool partial) {
  double worst = 0;
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    if (partial && std::isnan(actual.as_double(i))) continue;
    const double apart = std::abs(actual.as_double(i) - expected.as_double(i));
    worst = std::isnan(apart) ? std::numeric_limits<double>::infinity() : std::max(worst, apart);
  }
  return worst;
}

/// The same, relative to the largest magnitude of `expected`.
inline double relative_difference(const Tensor& actual, const Tensor& expected) {
  double largest = 0;
  for (std::int64_t i = 0; i < expected.size(); ++i) largest = std::max(largest, std::abs(expected.as_double(i)));
  const double difference = largest_difference(actual, expected, false);
  return largest == 0 ? difference : difference / largest;
}

}  // namespace stowage::testing
