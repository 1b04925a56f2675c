// SPDX-License-Identifier: Apache-2.0
// A graph that is made anew operator by operator, most of them unchanged: what rewrites of a graph share.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/graph.h"

namespace stowage {

class GraphCopy {
 public:
  /// A graph of the same name with the same inputs, and nothing else yet. `original` must stay.
  explicit GraphCopy(const Graph& original);

  [[nodiscard]] const Graph& original() const { return original_; }
  [[nodiscard]] GraphBuilder& builder() { return builder_; }

  /// Whether the original's tensor is there already, with its own dimensions.
  [[nodiscard]] bool has(TensorId old) const { return new_of_.contains(old); }
  /// Says which tensor it is.
  void set(TensorId old, TensorId now) { new_of_[old] = now; }
  /// The tensor; a constant comes over when it is first asked for.
  TensorId operand(TensorId old);
  /// Of all the operator's slots.
  std::vector<std::optional<TensorId>> operands_of(const Operator& op);

  /// Adds an operator of the original as it is.
  void add_unchanged(const Operator& op);
  /// Adds an operator of one output; returns that.
  TensorId add(const std::string& kind, const std::string& name, Attributes attributes,
               std::vector<std::optional<TensorId>> operands, OutputTensor result, std::vector<std::string> origins);
  /// Adds a Reshape, which no node of a model asked for.
  TensorId add_reshape(TensorId from, const std::string& name, const std::string& result, const Shape& shape);

  /// A name that neither graph uses for a tensor or an operator: the wanted one, or that and a number.
  [[nodiscard]] std::string new_name(const std::string& wanted) const;

  /// The graph, with the original's outputs.
  Graph build() &&;

 private:
  const Graph& original_;
  GraphBuilder builder_;
  std::map<TensorId, TensorId> new_of_;
};

}  // namespace stowage
