// SPDX-License-Identifier: Apache-2.0
// The operator table. An operator is one row: name, summary, operand names, attributes, and the function that defines
// it by stages. HACKING.md says how to add one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph.h"
#include "core/stage.h"

namespace stowage {

/// What a definition may look at.
struct OperatorContext {
  const Operator& op;
  std::vector<std::optional<StageTensor>> inputs;  ///< by operand slot; nullopt where the operand is absent
  Diagnostics& diagnostics;
  SourceLocation location;
};

struct OperatorDefinition {
  /// tensors: operands in slot order (absent ones left out), then constants and what the stages compute.
  StageList list;
  std::vector<std::optional<StageTensorId>> results =
      {};  ///< by result slot, the list's tensor; nullopt where nobody wants it
  /// The output is the first operand's elements in the same linear order under another shape (Reshape, Flatten,
  /// Squeeze, Unsqueeze, Identity): no work where memory can be shared. `list` still defines it as a copy.
  bool is_view = false;
};

struct AttributeRow {
  std::string_view name;
  std::string_view type;  ///< "int", "float", "string", "ints", "floats"
  bool required = false;
  std::string_view summary;
};

/// Over what every operator of a kind reduces, whatever its attributes are.
enum class ReducesOver : std::uint8_t {
  nothing,      ///< or not always
  convolution,  ///< windows of all channels of a group
  product,      ///< the axis that two matrices share
  window,       ///< of one channel
  axes,         ///< that its attributes name
  neighbours    ///< channels beside each other
};

struct OperatorRow {
  std::string_view name;
  std::string_view summary;
  std::vector<std::string_view> operands;  ///< names of operand slots; "…" as the last: any number more
  int required_operands = 1;
  std::vector<AttributeRow> attributes;
  Result<OperatorDefinition> (*define)(const OperatorContext& context) = nullptr;
  std::vector<std::string_view> results = {"Y"};  ///< names of result slots; all but the first may be left out
  ReducesOver reduces_over = ReducesOver::nothing;
};

/// The tensor of a definition that is the operator's output in that slot.
const StageTensor& result_tensor(const OperatorDefinition& definition, std::size_t slot);

/// All operators, sorted by name.
std::span<const OperatorRow> operator_table();
const OperatorRow* find_operator_row(std::string_view kind);

/// Defines an operator of a graph. Shape and type errors are reported at `location`.
Result<OperatorDefinition> define_operator(const Operator& op, std::span<const std::optional<StageTensor>> inputs,
                                           const SourceLocation& location, Diagnostics& diagnostics);
/// The definition of an operator that is part of a verified graph; StageTensor::source names the graph's tensors.
OperatorDefinition define_operator(const Graph& graph, OpId op);

/// Adds an operator with types and shapes derived from the table. `name` and the names of outputs, by result slot, are
/// made unique.
Result<OpId> append_operator(GraphBuilder& builder, std::string kind, std::string name, Attributes attributes,
                             std::vector<std::optional<TensorId>> inputs,
                             std::vector<std::optional<std::string>> output_names, std::vector<std::string> origins,
                             const SourceLocation& location, Diagnostics& diagnostics);
/// The same with one output.
Result<TensorId> append_operator(GraphBuilder& builder, std::string kind, std::string name, Attributes attributes,
                                 std::vector<std::optional<TensorId>> inputs, std::string output_name,
                                 std::vector<std::string> origins, const SourceLocation& location,
                                 Diagnostics& diagnostics);

/// Attribute access with defaults; a wrong type is an internal error (the import checked it).
std::int64_t int_attribute(const Attributes& attributes, const std::string& name, std::int64_t fallback);
double float_attribute(const Attributes& attributes, const std::string& name, double fallback);
std::string string_attribute(const Attributes& attributes, const std::string& name, std::string fallback);
std::vector<std::int64_t> ints_attribute(const Attributes& attributes, const std::string& name,
                                         std::vector<std::int64_t> fallback);

}  // namespace stowage
