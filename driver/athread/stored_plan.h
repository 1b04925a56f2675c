// SPDX-License-Identifier: Apache-2.0
// The plan of a kernel in plan.json (docs/plan-format.md) and its way back.
#pragma once

#include <string>

#include "core/target.h"
#include "driver/athread/known_nests.h"
#include "driver/json/json.h"
#include "fusion/groups/fused_graph.h"
#include "lowering/nest/plan.h"
#include "lowering/program/canonical_nest.h"

namespace stowage {

Json to_json(const Plan& plan);

/// A plan and the key of its nest.
struct KeyedPlan {
  Plan plan;
  NestKey key;
};

/// The plan of a sound group from the entries of its step and its nest as text (driver/athread/stored_nest.h). Throws
/// Damage, or what the JSON library does.
KeyedPlan read_plan(const Json& entries, const std::string& text, const Graph& graph, const FusedOperator& group,
                    const Target& target, KnownNests& known);

}  // namespace stowage
