// SPDX-License-Identifier: Apache-2.0
// The computation graph: operators are vertices, edges carry tensors.
//
// A Graph is an immutable value (copies share storage); GraphBuilder appends. Vertex index = OpId = position in
// operators(); a rewrite builds a new graph. An operator has one output or several. The Boost.Graph adjacency_list
// behind it is reached through core/graph_boost.h by core and fusion only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/diagnostics.h"
#include "core/ids.h"
#include "core/tensor.h"

namespace stowage {

using AttributeValue = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>>;
using Attributes = std::map<std::string, AttributeValue>;
std::string to_text(const AttributeValue& value);  ///< as in a graph's text

/// A box inside the memory of another tensor of the same type, which has memory of its own: element (i0, i1, …) is that
/// tensor's element number offset + i0 * strides[0] + i1 * strides[1] + … (core/storage_box.h)
struct StorageBox {
  TensorId storage;
  std::int64_t offset = 0;            ///< elements
  std::vector<std::int64_t> strides;  ///< elements, one per dimension
};

/// An input, a constant, the result of an operator, or a *storage*: none of these, but memory for several tensors,
/// which lie in it as boxes.
struct GraphTensor {
  std::string name;  ///< unique within the graph
  ElementType type = ElementType::f32;
  Shape shape;
  std::optional<Tensor> constant;  ///< weights and other constants
  std::optional<OpId> producer;
  std::vector<OpId> consumers;       ///< each consumer once, in ascending order
  bool is_input = false;             ///< input of the network
  bool is_output = false;            ///< output of the network
  std::optional<StorageBox> inside;  ///< where it lies in another tensor's memory; nothing: in its own, row-major
};

inline bool is_storage(const GraphTensor& tensor) { return !tensor.is_input && !tensor.constant && !tensor.producer; }

struct Operator {
  std::string kind;  ///< name in the operator table, for instance "Conv"
  std::string name;  ///< unique within the graph
  Attributes attributes;
  std::vector<std::optional<TensorId>> inputs;  ///< operand slots; an empty optional operand is nullopt
  /// By result slot. The first is always there; any other is nullopt, or left out at the end, where nobody wants it.
  std::vector<std::optional<TensorId>> outputs;
  std::vector<std::string> origins;  ///< names of the ONNX nodes it came from

  [[nodiscard]] TensorId first_output() const { return outputs.front().value(); }
};

/// The outputs that are there, in the order of their slots.
std::vector<TensorId> outputs_of(const Operator& op);

/// An output of an operator that is to be added.
struct OutputTensor {
  std::string name;
  ElementType type = ElementType::f32;
  Shape shape;
};

struct GraphStorage;  // core/graph_boost.h

class Graph {
 public:
  Graph();
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] std::span<const Operator> operators() const;
  [[nodiscard]] std::span<const GraphTensor> tensors() const;
  [[nodiscard]] const Operator& op(OpId id) const { return operators()[id.index()]; }
  [[nodiscard]] const GraphTensor& tensor(TensorId id) const { return tensors()[id.index()]; }
  [[nodiscard]] std::span<const TensorId> inputs() const;   ///< in the network's order
  [[nodiscard]] std::span<const TensorId> outputs() const;  ///< in the network's order
  [[nodiscard]] std::optional<TensorId> find_tensor(std::string_view name) const;
  [[nodiscard]] std::optional<OpId> find_operator(std::string_view name) const;
  [[nodiscard]] const GraphStorage& storage() const { return *storage_; }

 private:
  friend class GraphBuilder;
  std::shared_ptr<const GraphStorage> storage_;
};

/// Appends to a new graph. Names must be unique (see unique_name); operands must exist already, so the graph is
/// acyclic.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name);
  explicit GraphBuilder(const Graph& graph);  ///< goes on from there
  TensorId add_input(std::string name, ElementType type, Shape shape);
  TensorId add_constant(std::string name, Tensor value);
  TensorId add_storage(std::string name, ElementType type, Shape shape);
  /// Adds an operator of one output and that tensor. Type and shape are what the operator table says (see
  /// append_operator in core/operators.h, which is what most callers want).
  OpId add_operator(std::string kind, std::string name, Attributes attributes,
                    std::vector<std::optional<TensorId>> inputs, std::string output_name, ElementType output_type,
                    Shape output_shape, std::vector<std::string> origins);
  /// The same with outputs by slot.
  OpId add_operator(std::string kind, std::string name, Attributes attributes,
                    std::vector<std::optional<TensorId>> inputs, std::vector<std::optional<OutputTensor>> outputs,
                    std::vector<std::string> origins);
  void mark_output(TensorId tensor);
  void place(TensorId tensor, std::optional<StorageBox> inside);
  [[nodiscard]] std::string unique_name(std::string wanted) const;  ///< appends "_2", "_3" … while taken
  [[nodiscard]] const GraphTensor& tensor(TensorId id) const;
  [[nodiscard]] const Operator& op(OpId id) const;
  Graph build() &&;

 private:
  std::shared_ptr<GraphStorage> storage_;
};

/// An operator's outputs by slot, as a copy of it in another graph has them.
std::vector<std::optional<OutputTensor>> output_tensors(const Graph& graph, const Operator& op);

/// The operators that read any output of this one, each once, in ascending order.
std::vector<OpId> readers_of(const Graph& graph, OpId op);
/// True if one of its outputs is an output of the network.
bool makes_network_output(const Graph& graph, OpId op);

/// Operators in a topological order; among those that are ready the lowest OpId comes first, so it is deterministic.
std::vector<OpId> topological_order(const Graph& graph);

/// The invariants of a graph (producers, consumers, uniqueness, shapes as the operator table derives them); the first
/// broken one in words, or nothing.
std::optional<std::string> verify(const Graph& graph);

/// Text form, one operator a line. Constants of at most 8 elements print with their values, larger ones with the
/// xxHash64 of their bytes. Grammar in docs/ir.md.
std::string to_text(const Graph& graph);
/// Reads the text form back. Constants that print as a hash come as `constants` gives them by name (their hash must be
/// that of the text), or zero-filled. `file` names the text in diagnostics.
Result<Graph> parse_graph(std::string_view text, Diagnostics& diagnostics,
                          const std::map<std::string, Tensor>& constants = {}, const std::string& file = "graph");

}  // namespace stowage
