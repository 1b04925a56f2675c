// SPDX-License-Identifier: Apache-2.0
#include "core/operators.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/number_text.h"
#include "core/operators/define.h"

namespace stowage {
namespace {

std::vector<OperatorRow> all_rows() {
  std::vector<OperatorRow> rows;
  for (auto family :
       {operators::convolution_rows, operators::element_wise_rows, operators::layout_rows, operators::matmul_rows,
        operators::normalization_rows, operators::pooling_rows, operators::reduction_rows, operators::selection_rows}) {
    for (OperatorRow& row : family()) rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [](const OperatorRow& a, const OperatorRow& b) { return a.name < b.name; });
  return rows;
}

std::string_view type_of(const AttributeValue& value) {
  static constexpr std::string_view names[] = {"int", "float", "string", "ints", "floats"};
  return names[value.index()];
}

/// Operands and attributes against the row; everything wrong is reported.
bool fits_row(const OperatorRow& row, const Operator& op, std::span<const std::optional<StageTensor>> inputs,
              const SourceLocation& location, Diagnostics& diagnostics) {
  bool fits = true;
  const auto report = [&](std::string code, std::string message, std::string remedy = {}) {
    if (remedy.empty()) remedy = usual_remedy(code, row.name);
    diagnostics.error(std::move(code), location, std::move(message), std::move(remedy));
    fits = false;
  };
  const bool variadic = row.operands.back() == "…";
  if (!variadic && inputs.size() > row.operands.size()) {
    report("too-many-operands",
           fmt::format("{} takes {} operands, {} were given", row.name, row.operands.size(), inputs.size()));
  }
  for (std::size_t slot = 0; slot < static_cast<std::size_t>(row.required_operands); ++slot) {
    if (slot >= inputs.size() || !inputs[slot]) {
      report("missing-operand",
             fmt::format("{} needs operand {}", row.name, row.operands[std::min(slot, row.operands.size() - 1)]));
    }
  }
  for (const auto& input : inputs) {
    if (!input || (input->type != ElementType::f16 && input->type != ElementType::bf16)) continue;
    report("unsupported-element-type", fmt::format("{} of {} elements", row.name, name_of(input->type)),
           "convert the network to float32");
    break;
  }
  if (op.outputs.size() > row.results.size()) {
    report("too-many-outputs",
           fmt::format("{} has {}, {} were named", row.name, counted(row.results.size(), "output"), op.outputs.size()),
           "leave the last ones out");
  }
  for (const auto& [name, value] : op.attributes) {
    const auto known = std::find_if(row.attributes.begin(), row.attributes.end(),
                                    [&name = name](const AttributeRow& attribute) { return attribute.name == name; });
    if (known == row.attributes.end()) {
      std::vector<std::string> names;
      for (const AttributeRow& attribute : row.attributes) names.emplace_back(attribute.name);
      report("unknown-attribute", fmt::format("{} has no attribute {}", row.name, name), suggest_name(name, names));
    } else if (known->type != type_of(value)) {
      report("bad-attribute",
             fmt::format("attribute {} of {} is {}, {} was wanted", name, row.name, type_of(value), known->type));
    }
  }
  for (const AttributeRow& attribute : row.attributes) {
    if (attribute.required && !op.attributes.contains(std::string(attribute.name))) {
      report("missing-attribute", fmt::format("{} needs attribute {}", row.name, attribute.name));
    }
  }
  return fits;
}

StageTensor stage_tensor_of(const GraphTensor& tensor, TensorId id) {
  StageTensor operand;
  operand.name = tensor.name;
  operand.type = tensor.type;
  operand.shape = tensor.shape;
  operand.role = tensor.constant ? TensorRole::constant : TensorRole::input;
  operand.value = tensor.constant;
  operand.source = id;
  return operand;
}

}  // namespace

std::span<const OperatorRow> operator_table() {
  static const std::vector<OperatorRow> rows = all_rows();
  return rows;
}

const OperatorRow* find_operator_row(std::string_view kind) {
  const auto rows = operator_table();
  const auto found = std::lower_bound(rows.begin(), rows.end(), kind,
                                      [](const OperatorRow& row, std::string_view name) { return row.name < name; });
  return found != rows.end() && found->name == kind ? &*found : nullptr;
}

Result<OperatorDefinition> define_operator(const Operator& op, std::span<const std::optional<StageTensor>> inputs,
                                           const SourceLocation& location, Diagnostics& diagnostics) {
  const OperatorRow* row = find_operator_row(op.kind);
  if (row == nullptr) {
    std::vector<std::string> names;
    for (const OperatorRow& other : operator_table()) names.emplace_back(other.name);
    diagnostics.error(
        "unknown-operator", location, fmt::format("there is no operator {}", op.kind),
        nearest_name(op.kind, names) ? suggest_name(op.kind, names) : "'stowage ops' lists the operators there are");
    return Failed{};
  }
  if (!fits_row(*row, op, inputs, location, diagnostics)) return Failed{};
  return row->define({op, {inputs.begin(), inputs.end()}, diagnostics, location});
}

OperatorDefinition define_operator(const Graph& graph, OpId id) {
  const Operator& op = graph.op(id);
  std::vector<std::optional<StageTensor>> inputs;
  for (const auto& input : op.inputs) {
    inputs.emplace_back();
    if (input) inputs.back() = stage_tensor_of(graph.tensor(*input), *input);
  }
  Diagnostics diagnostics;
  Result<OperatorDefinition> definition = define_operator(op, inputs, {}, diagnostics);
  check(static_cast<bool>(definition),
        "operator of a verified graph has no definition: " + format_diagnostics(diagnostics));
  for (std::size_t slot = 0; slot < op.outputs.size(); ++slot) {
    if (!op.outputs[slot]) continue;
    definition->list.tensors[definition->results.at(slot).value()].source = op.outputs[slot];
  }
  return *std::move(definition);
}

const StageTensor& result_tensor(const OperatorDefinition& definition, std::size_t slot) {
  check(slot < definition.results.size() && definition.results[slot], "a definition lacks an output");
  return definition.list.tensors[*definition.results[slot]];
}

Result<OpId> append_operator(GraphBuilder& builder, std::string kind, std::string name, Attributes attributes,
                             std::vector<std::optional<TensorId>> inputs,
                             std::vector<std::optional<std::string>> output_names, std::vector<std::string> origins,
                             const SourceLocation& location, Diagnostics& diagnostics) {
  Operator op;
  op.kind = std::move(kind);
  op.attributes = std::move(attributes);
  std::vector<std::optional<StageTensor>> operands;
  for (const auto& input : inputs) {
    operands.emplace_back();
    if (input) operands.back() = stage_tensor_of(builder.tensor(*input), *input);
  }
  for (const auto& wanted : output_names) {  // a definition asks which there are, not what they are called
    op.outputs.push_back(wanted ? std::optional<TensorId>(TensorId(op.outputs.size())) : std::nullopt);
  }
  const Result<OperatorDefinition> definition = define_operator(op, operands, location, diagnostics);
  if (!definition) return Failed{};
  std::vector<std::optional<OutputTensor>> outputs;
  for (std::size_t slot = 0; slot < output_names.size(); ++slot) {
    outputs.emplace_back();
    if (!output_names[slot]) continue;
    const StageTensor& output = result_tensor(*definition, slot);
    outputs.back() = OutputTensor{builder.unique_name(*std::move(output_names[slot])), output.type, output.shape};
  }
  return builder.add_operator(std::move(op.kind), builder.unique_name(std::move(name)), std::move(op.attributes),
                              std::move(inputs), std::move(outputs), std::move(origins));
}

Result<TensorId> append_operator(GraphBuilder& builder, std::string kind, std::string name, Attributes attributes,
                                 std::vector<std::optional<TensorId>> inputs, std::string output_name,
                                 std::vector<std::string> origins, const SourceLocation& location,
                                 Diagnostics& diagnostics) {
  const auto id = append_operator(builder, std::move(kind), std::move(name), std::move(attributes), std::move(inputs),
                                  std::vector<std::optional<std::string>>{std::move(output_name)}, std::move(origins),
                                  location, diagnostics);
  if (!id) return Failed{};
  return builder.op(*id).first_output();
}

namespace {

template <class T>
T attribute_or(const Attributes& attributes, const std::string& name, T fallback) {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return fallback;
  const T* value = std::get_if<T>(&found->second);
  check(value != nullptr, fmt::format("attribute {} has another type", name));
  return *value;
}

}  // namespace

std::int64_t int_attribute(const Attributes& attributes, const std::string& name, std::int64_t fallback) {
  return attribute_or(attributes, name, fallback);
}

double float_attribute(const Attributes& attributes, const std::string& name, double fallback) {
  return attribute_or(attributes, name, fallback);
}

std::string string_attribute(const Attributes& attributes, const std::string& name, std::string fallback) {
  return attribute_or(attributes, name, std::move(fallback));
}

std::vector<std::int64_t> ints_attribute(const Attributes& attributes, const std::string& name,
                                         std::vector<std::int64_t> fallback) {
  return attribute_or(attributes, name, std::move(fallback));
}

}  // namespace stowage
