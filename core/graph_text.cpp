// SPDX-License-Identifier: Apache-2.0
// The printer of graphs; core/graph_parser.cpp reads the text back, docs/ir.md has the grammar.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/graph.h"
#include "core/overloaded.h"
#include "core/text_cursor.h"

namespace stowage {
namespace {

/// Values of constants up to this size are part of the text: shapes, axes, bounds, what a reader wants to see.
constexpr std::int64_t max_inline_elements = 8;

std::string typed_name(const GraphTensor& tensor) {
  return fmt::format("{} {}{}", quoted_name(tensor.name), name_of(tensor.type), to_text(tensor.shape));
}

std::string operator_line(const Graph& graph, const Operator& op) {
  std::vector<std::string> operands;
  for (const auto& input : op.inputs) operands.push_back(input ? quoted_name(graph.tensor(*input).name) : "_");
  std::string line =
      fmt::format("op {}: {}({})", quoted_name(op.name), quoted_name(op.kind), fmt::join(operands, ", "));
  std::vector<std::string> attributes;
  for (const auto& [name, value] : op.attributes) {
    attributes.push_back(fmt::format("{} = {}", quoted_name(name), to_text(value)));
  }
  if (!attributes.empty()) line += fmt::format(" {{{}}}", fmt::join(attributes, ", "));
  std::vector<std::string> outputs;
  for (const auto& output : op.outputs) outputs.push_back(output ? typed_name(graph.tensor(*output)) : "_");
  line += fmt::format(" -> {}", fmt::join(outputs, ", "));
  std::vector<std::string> origins;
  // Named in full: of a string, std::quoted would be found as well.
  for (const std::string& origin : op.origins) origins.push_back(stowage::quoted(origin));
  if (!origins.empty()) line += fmt::format(" from {}", fmt::join(origins, ", "));
  return line;
}

}  // namespace

std::string to_text(const AttributeValue& value) {
  return std::visit(Overloaded{
                        [](std::int64_t v) { return std::to_string(v); },
                        [](double v) { return number_text(v); },
                        [](const std::string& v) { return stowage::quoted(v); },
                        [](const std::vector<std::int64_t>& v) { return fmt::format("[{}]", fmt::join(v, ", ")); },
                        [](const std::vector<double>& v) {
                          std::vector<std::string> texts;
                          for (const double e : v) texts.push_back(number_text(e));
                          // Without an element nothing shows what it would be.
                          return fmt::format("{}[{}]", v.empty() ? "floats " : "", fmt::join(texts, ", "));
                        },
                    },
                    value);
}

std::string to_text(const Graph& graph) {
  std::string text = fmt::format("graph {} {{\n", quoted_name(graph.name()));
  for (const GraphTensor& tensor : graph.tensors()) {
    if (tensor.producer) {
      const Operator& op = graph.op(*tensor.producer);
      if (&graph.tensor(op.first_output()) != &tensor) continue;  // stands in the line of the first
      text += fmt::format("  {}\n", operator_line(graph, op));
    } else if (tensor.constant) {
      text += fmt::format("  constant {} {}\n", typed_name(tensor), value_text(*tensor.constant, max_inline_elements));
    } else {
      text += fmt::format("  {} {}\n", tensor.is_input ? "input" : "storage", typed_name(tensor));
    }
  }
  for (const GraphTensor& tensor : graph.tensors()) {
    if (!tensor.inside) continue;
    text += fmt::format("  place {} in {} at {} strides [{}]\n", quoted_name(tensor.name),
                        quoted_name(graph.tensor(tensor.inside->storage).name), tensor.inside->offset,
                        fmt::join(tensor.inside->strides, ", "));
  }
  for (const TensorId output : graph.outputs()) {
    text += fmt::format("  output {}\n", quoted_name(graph.tensor(output).name));
  }
  return text + "}\n";
}

}  // namespace stowage
