// SPDX-License-Identifier: Apache-2.0
// Plain patterns: what a template is once its optional and repeated vertices are written out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fusion/templates/template.h"

namespace stowage {

struct PatternVertex {
  /// The template vertex's, with "#2" … behind further copies of a repeated one, "@2" … in further branches.
  std::string name;
  std::size_t source = 0;  ///< index into FusionTemplate::vertices
  VertexRole role = VertexRole::epilogue;
};

struct PatternEdge {
  std::size_t from = 0;  ///< index into Pattern::vertices
  std::size_t to = 0;
  std::optional<int> slot = std::nullopt;  ///< operand slot of `to`; nothing: any
};

struct Pattern {
  std::vector<PatternVertex> vertices;
  std::vector<PatternEdge> edges;
  std::size_t anchor = 0;  ///< index of the vertex with role anchor
  /// Of branches: the anchor of every branch. Branches have no order of their own, so embeddings give these vertices
  /// ascending operators, and each set of branches is found once.
  std::vector<std::size_t> branches;
};

/// How many patterns a template expands to, longest included; what parse_templates limits.
std::int64_t expansion_count(const FusionTemplate& fusion_template);

/// Every pattern of a template, longest first; of equal length, the one that keeps earlier vertices comes first.
/// A repeated vertex becomes a chain: edges to it enter the first copy, edges from it leave the last. Where an optional
/// vertex is left out, each of its predecessors is joined to each of its successors, in the successor's slot. Patterns
/// that fall apart because a connecting vertex is left out are dropped. Of branches there is a pattern for every number
/// of branches, which are of one length.
std::vector<Pattern> expand(const FusionTemplate& fusion_template);

}  // namespace stowage
