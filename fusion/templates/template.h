// SPDX-License-Identifier: Apache-2.0
// Fusion templates as data: small pattern graphs with constraints, read from TOML (docs/templates.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/diagnostics.h"
#include "fusion/templates/condition.h"

namespace stowage {

/// `branch`: an anchor of a further branch of a template of branches; no file names it.
enum class VertexRole : std::uint8_t { anchor, producer, prologue, epilogue, folded, view, context, branch };
std::string_view name_of(VertexRole role);
bool is_role(std::string_view name);

struct TemplateVertex {
  std::string name;
  std::vector<std::string> kinds;  ///< operator kinds, or fusion kinds as "@element_wise", "@broadcast" …
  VertexRole role = VertexRole::epilogue;
  bool optional = false;  ///< expands to patterns with and without it
  int repeat = 1;         ///< at most this many in a chain; expands to one pattern a length
  std::vector<std::pair<std::string, Condition>> constraints;  ///< on attributes and properties, sorted by name
};

struct TemplateEdge {
  std::string from;
  std::string to;
  std::optional<int> slot = std::nullopt;  ///< operand slot of `to`; nothing: any
};

struct FusionTemplate {
  std::string name;
  std::string summary;
  std::string computes;  ///< what the fused operator computes, for a reader: "act(conv(x, w) + b)"
  /// More than 1: of branches. Everything but the context is one branch; between two and this number of them lie side
  /// by side.
  int branches = 1;
  std::vector<TemplateVertex> vertices;
  std::vector<TemplateEdge> edges;
  SourceLocation location;  ///< of its name
};

/// Vertices whose values never reach main memory: read by another vertex of the group, or by a further copy of their
/// own ("tail, all but the last"). For a reader; which values of one group stay is the group's to say.
std::vector<std::string> values_on_chip(const FusionTemplate& fusion_template);

/// The templates in a TOML text; every mistake gets a placed diagnostic. Names of `others` are taken.
Result<std::vector<FusionTemplate>> parse_templates(std::string_view toml, const std::string& file,
                                                    Diagnostics& diagnostics,
                                                    std::span<const FusionTemplate> others = {});
/// Built-in ones, in the order in which greedy tries them.
const std::vector<FusionTemplate>& built_in_templates();

}  // namespace stowage
