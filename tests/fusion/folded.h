// SPDX-License-Identifier: Apache-2.0
// Folds a graph for tests, and compares its values with those of the graph as it was.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "fusion/fold/fold_intrinsics.h"
#include "tests/fusion/net.h"
#include "tests/fusion/run_graph.h"

namespace stowage::testing {

struct Folded {
  Graph graph;
  std::string records;
};

/// Compares every network output of a rewritten graph with that of the graph as it was.
inline void check_same_outputs(const Graph& graph, const Graph& rewritten) {
  CHECK(verify(rewritten) == std::nullopt);
  Net random("values", 7);
  Values values;
  for (const TensorId input : graph.inputs()) {
    values[graph.tensor(input).name] = random.random_tensor(graph.tensor(input).shape);
  }
  const Values expected = run_operators(graph, values);
  const Values actual = run_operators(rewritten, values);
  REQUIRE(rewritten.outputs().size() == graph.outputs().size());
  for (const TensorId output : graph.outputs()) {
    const std::string& name = graph.tensor(output).name;
    INFO("output " << name);
    CHECK(relative_difference(actual.at(name), expected.at(name)) < 1e-6);
  }
}

/// Folds, and compares every network output with the graph as it was.
inline Folded fold(const Graph& graph) {
  Trace trace;
  Folded folded{fold_intrinsics(graph, TraceSink(&trace)), {}};
  for (const TraceRecord& record : trace.records) {
    const TraceHeading at = heading_of(record);
    CHECK(at.algorithm == "intrinsic");
    folded.records += std::string(at.outcome == TraceOutcome::accepted ? "+ " : "- ") + record.subject + " [" +
                      at.rule + "] " + sentence(record) + "\n";
  }
  check_same_outputs(graph, folded.graph);
  return folded;
}

/// "Conv conv (x, w) -> out from node_conv node_bn", one operator a line.
inline std::string text_of(const Graph& graph) {
  std::string text;
  for (const Operator& op : graph.operators()) {
    std::string operands;
    for (const auto& input : op.inputs) operands += (operands.empty() ? "" : ", ") + graph.tensor(*input).name;
    text += op.kind + " " + op.name + " (" + operands + ") -> " + graph.tensor(op.first_output()).name + " from";
    for (const std::string& origin : op.origins) text += " " + origin;
    text += "\n";
  }
  return text;
}

inline Shape shape_of(const Graph& graph, const std::string& tensor) {
  return graph.tensor(graph.find_tensor(tensor).value()).shape;
}

}  // namespace stowage::testing
