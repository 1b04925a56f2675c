// SPDX-License-Identifier: Apache-2.0
// What a template's vertex asks of an operator: its kind and the values of its attributes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fusion/operator_facts.h"
#include "fusion/template.h"

namespace stowage {

/// A property that is derived instead of stored as an attribute, as a template may ask for it.
struct PropertyRow {
  std::string_view name;
  std::string_view summary;
  std::string (*value)(const GraphFacts& facts, OpId op);  ///< in TOML syntax
};
std::span<const PropertyRow> property_table();

/// Fusion kinds as a vertex names them ("@element_wise" …) and "@view".
std::vector<std::string> kind_classes();

/// True if the operator has one of the vertex's kinds and every value that the vertex asks for.
/// An attribute that the operator does not carry has no value, so it differs from every one.
bool accepts(const GraphFacts& facts, const TemplateVertex& vertex, OpId op);

}  // namespace stowage
