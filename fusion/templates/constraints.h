// SPDX-License-Identifier: Apache-2.0
// What a template's vertex asks of an operator: its kind, and conditions on its attributes and properties.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/operators.h"
#include "fusion/facts/operator_facts.h"
#include "fusion/templates/condition.h"
#include "fusion/templates/template.h"

namespace stowage {

/// A value that is derived from an operator. A property with the name of an attribute stands for it, with the default
/// where the operator does not carry it.
struct PropertyRow {
  std::string_view name;
  std::string_view summary;
  ValueKind kind = ValueKind::number;
  bool (*applies)(const OperatorRow& row) = nullptr;  ///< kinds of operators that have it; null: all
  std::optional<PropertyValue> (*value)(const GraphFacts& facts, OpId op) = nullptr;
  std::optional<double> least = std::nullopt;  ///< of numbers that are whole and no less than this
};
std::span<const PropertyRow> property_table();

/// Fusion kinds as a vertex names them ("@element_wise" …), "@view" and "@any".
std::vector<std::string> kind_classes();

/// What `where` may ask of vertices of these kinds, by name.
std::vector<std::pair<std::string, ValueForm>> constraint_forms(const std::vector<std::string>& kinds);

/// True if the operator has one of the vertex's kinds and every value that the vertex asks for.
/// An attribute that the operator does not carry has no value, so it meets no condition.
bool accepts(const GraphFacts& facts, const TemplateVertex& vertex, OpId op);

/// One thing that keeps an operator from a vertex: "kind" or the name of a constraint, what is wanted, what is.
struct Mismatch {
  std::string name;
  std::string wanted;
  std::string is;
};
/// Everything that keeps it; empty if the vertex accepts the operator.
std::vector<Mismatch> mismatches(const GraphFacts& facts, const TemplateVertex& vertex, OpId op);

}  // namespace stowage
