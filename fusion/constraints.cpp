// SPDX-License-Identifier: Apache-2.0
#include "fusion/constraints.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/toml_reader.h"

namespace stowage {
namespace {

std::string truth(bool value) { return value ? "true" : "false"; }

const GraphTensor& output_of(const GraphFacts& facts, OpId op) { return facts.graph.tensor(facts.graph.op(op).output); }

bool is_depthwise(const GraphFacts& facts, OpId id) {
  const Operator& op = facts.graph.op(id);
  if (op.kind != "Conv" && op.kind != "ConvTranspose") return false;
  const std::int64_t groups = int_attribute(op.attributes, "group", 1);
  return groups > 1 && facts.graph.tensor(*op.inputs.at(0)).shape.at(1) == groups;
}

constexpr PropertyRow properties[] = {
    {"depthwise", "true for a convolution with one input channel a group",
     [](const GraphFacts& facts, OpId op) { return truth(is_depthwise(facts, op)); }},
    {"fan_out", "number of operators that read the result",
     [](const GraphFacts& facts, OpId op) { return fmt::to_string(output_of(facts, op).consumers.size()); }},
    {"rank", "number of dimensions of the result",
     [](const GraphFacts& facts, OpId op) { return fmt::to_string(output_of(facts, op).shape.size()); }},
    {"shape", "extents of the result",
     [](const GraphFacts& facts, OpId op) { return to_text(output_of(facts, op).shape); }},
    {"type", "element type of the result",
     [](const GraphFacts& facts, OpId op) { return quoted_toml(name_of(output_of(facts, op).type)); }},
};

constexpr FusionKind fusion_kinds[] = {FusionKind::element_wise, FusionKind::broadcast, FusionKind::injective,
                                       FusionKind::reduction,    FusionKind::anchor,    FusionKind::opaque};

std::string class_of(FusionKind kind) { return fmt::format("@{}", name_of(kind)); }

std::string attribute_text(const AttributeValue& value) {
  struct Text {
    std::string operator()(std::int64_t v) const { return fmt::to_string(v); }
    std::string operator()(double v) const { return fmt::to_string(v); }
    std::string operator()(const std::string& v) const { return quoted_toml(v); }
    std::string operator()(const std::vector<std::int64_t>& v) const { return fmt::format("[{}]", fmt::join(v, ",")); }
    std::string operator()(const std::vector<double>& v) const { return fmt::format("[{}]", fmt::join(v, ",")); }
  };
  return std::visit(Text{}, value);
}

std::string without_spaces(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

std::optional<double> as_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size()) return std::nullopt;
  return value;
}

/// Equal as TOML values: numbers by value, everything else by its text.
bool same_value(const std::string& a, const std::string& b) {
  const auto number_a = as_number(a);
  const auto number_b = as_number(b);
  if (number_a && number_b) return *number_a == *number_b;
  return without_spaces(a) == without_spaces(b);
}

std::optional<std::string> value_of(const GraphFacts& facts, OpId op, const std::string& name) {
  for (const PropertyRow& row : properties) {
    if (row.name == name) return row.value(facts, op);
  }
  const Attributes& attributes = facts.graph.op(op).attributes;
  const auto found = attributes.find(name);
  if (found == attributes.end()) return std::nullopt;
  return attribute_text(found->second);
}

}  // namespace

std::span<const PropertyRow> property_table() { return properties; }

std::vector<std::string> kind_classes() {
  std::vector<std::string> classes;
  for (const FusionKind kind : fusion_kinds) classes.push_back(class_of(kind));
  classes.emplace_back("@view");
  return classes;
}

bool accepts(const GraphFacts& facts, const TemplateVertex& vertex, OpId op) {
  const OperatorFacts& of = facts.of(op);
  const bool has_kind = std::any_of(vertex.kinds.begin(), vertex.kinds.end(), [&](const std::string& kind) {
    if (of.is_view) return kind == "@view" || kind == facts.graph.op(op).kind;
    return kind == facts.graph.op(op).kind || kind == class_of(of.kind);
  });
  return has_kind && std::all_of(vertex.constraints.begin(), vertex.constraints.end(), [&](const auto& constraint) {
           const auto value = value_of(facts, op, constraint.first);
           return value && same_value(*value, constraint.second);
         });
}

}  // namespace stowage
