// SPDX-License-Identifier: Apache-2.0
// The template that comes nearest to taking some operators, and what keeps it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fusion/explain/why_not.h"

namespace stowage {

/// Operators on the shortest ways between the given ones, and themselves, in topological order; nothing where some are
/// joined by no way and read no common tensor.
std::optional<std::vector<OpId>> joined_operators(const GraphFacts& facts, const std::vector<OpId>& operators);

/// Over all patterns and all ways to lay a pattern's vertices on the operators: the slightest differences, then the
/// fewest vertices, then the first. Views are laid on templates that have a vertex for one. Nothing where there are too
/// many operators for any pattern.
std::optional<NearestTemplate> nearest_template(const GraphFacts& facts, std::span<const FusionTemplate> templates,
                                                const std::vector<OpId>& operators);

}  // namespace stowage
