// SPDX-License-Identifier: Apache-2.0
#include "fusion/templates/constraints.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/channel_blocks.h"

namespace stowage {
namespace {

using Value = std::optional<PropertyValue>;

const GraphTensor& output_of(const GraphFacts& facts, OpId op) {
  return facts.graph.tensor(facts.graph.op(op).first_output());
}

const Shape& input_shape(const GraphFacts& facts, OpId op) {
  static const Shape none;
  const auto& inputs = facts.graph.op(op).inputs;
  return inputs.empty() || !inputs.front() ? none : facts.graph.tensor(*inputs.front()).shape;
}

/// The shape of an operator's picture as ONNX has it, wherever its channels lie.
Shape picture_shape(const GraphFacts& facts, OpId op) {
  const Shape& shape = input_shape(facts, op);
  return channel_blocks_of(facts.graph.op(op).attributes).operand > 0 ? unblocked_shape(shape, 1) : shape;
}

PropertyValue number(std::int64_t value) { return static_cast<double>(value); }

template <class Numbers>
PropertyValue numbers(const Numbers& values) {
  return std::vector<double>(values.begin(), values.end());
}

bool has_attribute(const OperatorRow& row, std::string_view name) {
  return std::any_of(row.attributes.begin(), row.attributes.end(),
                     [&](const AttributeRow& attribute) { return attribute.name == name; });
}

bool is_convolution(const OperatorRow& row) { return row.reduces_over == ReducesOver::convolution; }
bool has_window(const OperatorRow& row) { return has_attribute(row, "strides"); }

/// Softmax and reductions say with "axis" or "axes" what they reduce over.
bool reduces_over_axes(const OperatorRow& row) { return row.reduces_over == ReducesOver::axes; }

std::int64_t groups_of(const Operator& op) { return int_attribute(op.attributes, "group", 1); }

Value depthwise(const GraphFacts& facts, OpId id) {
  const Operator& op = facts.graph.op(id);
  return PropertyValue(groups_of(op) > 1 && picture_shape(facts, id).at(1) == groups_of(op));
}

/// Strides or dilations: ones where the attribute is missing.
template <const char* name>
Value window_numbers(const GraphFacts& facts, OpId id) {
  const std::size_t dimensions = picture_shape(facts, id).size() - 2;
  return numbers(ints_attribute(facts.graph.op(id).attributes, name, std::vector<std::int64_t>(dimensions, 1)));
}
constexpr char strides_name[] = "strides";
constexpr char dilations_name[] = "dilations";

Value kernel_shape(const GraphFacts& facts, OpId id) {
  const Operator& op = facts.graph.op(id);
  if (op.attributes.contains("kernel_shape")) return numbers(ints_attribute(op.attributes, "kernel_shape", {}));
  if (op.inputs.size() < 2 || !op.inputs[1]) return std::nullopt;
  const Shape& weights = facts.graph.tensor(*op.inputs[1]).shape;
  const int lane_dimensions = channel_blocks_of(op.attributes).result > 0 ? 1 : 0;
  return numbers(Shape(weights.begin() + 2, weights.end() - lane_dimensions));
}

/// How many of the last dimensions are reduced, where those and no others are.
Value last_axes(const GraphFacts& facts, OpId id) {
  const Operator& op = facts.graph.op(id);
  const auto rank = static_cast<std::int64_t>(input_shape(facts, id).size());
  const auto from_end = [&](std::int64_t axis) { return axis < 0 ? -axis : rank - axis; };
  if (op.kind == "LayerNormalization") return number(from_end(int_attribute(op.attributes, "axis", -1)));
  if (op.kind == "Softmax") {
    const std::int64_t place = from_end(int_attribute(op.attributes, "axis", -1));
    return place == 1 ? Value(number(1)) : std::nullopt;
  }
  if (!op.attributes.contains("axes")) return number(rank);
  std::vector<std::int64_t> places = ints_attribute(op.attributes, "axes", {});
  std::transform(places.begin(), places.end(), places.begin(), from_end);
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] != static_cast<std::int64_t>(i) + 1) return std::nullopt;
  }
  return number(static_cast<std::int64_t>(places.size()));
}

Value scalar_operand(const GraphFacts& facts, OpId id) {
  Value found;
  for (const auto& input : facts.graph.op(id).inputs) {
    if (!input) continue;
    const GraphTensor& operand = facts.graph.tensor(*input);
    if (!operand.constant || element_count(operand.shape) != 1) continue;
    if (found) return std::nullopt;
    found = operand.constant->as_double(0);
  }
  return found;
}

constexpr PropertyRow properties[] = {
    {"depthwise", "true for a convolution with one input channel a group", ValueKind::truth, is_convolution, depthwise},
    {"dilations", "of a window; ones by default", ValueKind::numbers, has_window, window_numbers<dilations_name>, 1},
    {"fan_out", "number of operators that read the result", ValueKind::number, nullptr,
     [](const GraphFacts& facts, OpId op) {
       return Value(number(static_cast<std::int64_t>(readers_of(facts.graph, op).size())));
     },
     0},
    {"group", "groups of channels of a convolution", ValueKind::number, is_convolution,
     [](const GraphFacts& facts, OpId op) { return Value(number(groups_of(facts.graph.op(op)))); }, 1},
    {"input_shape", "extents of the first operand", ValueKind::numbers, nullptr,
     [](const GraphFacts& facts, OpId op) { return Value(numbers(input_shape(facts, op))); }, 0},
    {"kernel_shape", "extents of a window", ValueKind::numbers, has_window, kernel_shape, 1},
    {"last_axes", "of a reduction, Softmax or LayerNormalization over the last dimensions and no others: how many",
     ValueKind::number, reduces_over_axes, last_axes, 1},
    {"rank", "number of dimensions of the result", ValueKind::number, nullptr,
     [](const GraphFacts& facts, OpId op) {
       return Value(number(static_cast<std::int64_t>(output_of(facts, op).shape.size())));
     },
     0},
    {"scalar", "value of the operand that is a constant of one element, where there is one such", ValueKind::number,
     nullptr, scalar_operand},
    {"shape", "extents of the result", ValueKind::numbers, nullptr,
     [](const GraphFacts& facts, OpId op) { return Value(numbers(output_of(facts, op).shape)); }, 0},
    {"strides", "of a window; ones by default", ValueKind::numbers, has_window, window_numbers<strides_name>, 1},
    {"type", "element type of the result", ValueKind::text, nullptr,
     [](const GraphFacts& facts, OpId op) { return Value(std::string(name_of(output_of(facts, op).type))); }},
};

constexpr FusionKind fusion_kinds[] = {FusionKind::element_wise, FusionKind::broadcast, FusionKind::injective,
                                       FusionKind::reduction,    FusionKind::anchor,    FusionKind::opaque};

constexpr std::string_view any_operator = "@any";

std::string class_of(FusionKind kind) { return fmt::format("@{}", name_of(kind)); }

std::vector<std::string> element_type_names() {
  std::vector<std::string> names;
  for (int type = 0; type <= static_cast<int>(ElementType::bf16); ++type) {
    names.emplace_back(name_of(static_cast<ElementType>(type)));
  }
  return names;
}

PropertyValue attribute_value(const AttributeValue& value) {
  struct Convert {
    PropertyValue operator()(std::int64_t v) const { return number(v); }
    PropertyValue operator()(double v) const { return v; }
    PropertyValue operator()(const std::string& v) const { return v; }
    PropertyValue operator()(const std::vector<std::int64_t>& v) const { return numbers(v); }
    PropertyValue operator()(const std::vector<double>& v) const { return v; }
  };
  return std::visit(Convert{}, value);
}

ValueKind kind_of_attribute(const AttributeRow& row) {
  if (row.type == "string") return ValueKind::text;
  return row.type == "ints" || row.type == "floats" ? ValueKind::numbers : ValueKind::number;
}

Value value_of(const GraphFacts& facts, OpId op, const std::string& name) {
  for (const PropertyRow& row : properties) {
    if (row.name != name) continue;
    const OperatorRow* kind = find_operator_row(facts.graph.op(op).kind);
    const bool has_it = row.applies == nullptr || (kind != nullptr && row.applies(*kind));
    return has_it ? row.value(facts, op) : std::nullopt;
  }
  const Attributes& attributes = facts.graph.op(op).attributes;
  const auto found = attributes.find(name);
  if (found == attributes.end()) return std::nullopt;
  return attribute_value(found->second);
}

bool has_kind(const GraphFacts& facts, const TemplateVertex& vertex, OpId op) {
  const OperatorFacts& of = facts.of(op);
  return std::any_of(vertex.kinds.begin(), vertex.kinds.end(), [&](const std::string& kind) {
    if (kind == facts.graph.op(op).kind || kind == any_operator) return true;
    if (of.in_place && !of.is_view) return false;  // computing it in a group would cost what is free
    return of.is_view ? kind == "@view" : kind[0] == '@' && kind == class_of(of.kind);
  });
}

}  // namespace

std::span<const PropertyRow> property_table() { return properties; }

std::vector<std::string> kind_classes() {
  std::vector<std::string> classes;
  for (const FusionKind kind : fusion_kinds) classes.push_back(class_of(kind));
  classes.emplace_back("@view");
  classes.emplace_back(any_operator);
  return classes;
}

std::vector<std::pair<std::string, ValueForm>> constraint_forms(const std::vector<std::string>& kinds) {
  std::map<std::string, ValueForm> forms;
  const bool any_kind =
      std::any_of(kinds.begin(), kinds.end(), [](const std::string& kind) { return kind.starts_with('@'); });
  for (const OperatorRow& row : operator_table()) {
    if (!any_kind && std::find(kinds.begin(), kinds.end(), row.name) == kinds.end()) continue;
    for (const AttributeRow& attribute : row.attributes) {
      const bool whole = attribute.type == "int" || attribute.type == "ints";
      forms.emplace(attribute.name, ValueForm{kind_of_attribute(attribute), {}, whole, std::nullopt});
    }
    for (const PropertyRow& property : properties) {
      if (property.applies != nullptr && !property.applies(row)) continue;
      forms[std::string(property.name)] = {property.kind,
                                           property.name == "type" ? element_type_names() : std::vector<std::string>{},
                                           property.least.has_value(), property.least};
    }
  }
  return {forms.begin(), forms.end()};
}

bool accepts(const GraphFacts& facts, const TemplateVertex& vertex, OpId op) {
  return has_kind(facts, vertex, op) &&
         std::all_of(vertex.constraints.begin(), vertex.constraints.end(), [&](const auto& constraint) {
           const Value value = value_of(facts, op, constraint.first);
           return value && holds(constraint.second, *value);
         });
}

std::vector<Mismatch> mismatches(const GraphFacts& facts, const TemplateVertex& vertex, OpId op) {
  std::vector<Mismatch> found;
  if (!has_kind(facts, vertex, op)) {
    found.push_back({"kind", fmt::format("{}", fmt::join(vertex.kinds, " or ")), facts.graph.op(op).kind});
  }
  for (const auto& [name, condition] : vertex.constraints) {
    const Value value = value_of(facts, op, name);
    if (value && holds(condition, *value)) continue;
    found.push_back({name, to_text(condition), value ? to_text(*value) : "nothing"});
  }
  return found;
}

}  // namespace stowage
