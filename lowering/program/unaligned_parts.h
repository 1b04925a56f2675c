// SPDX-License-Identifier: Apache-2.0
// Whether fusing operators makes transfers unaligned that they would not make unaligned each by itself. An operator of
// narrow elements may have to (lowering/time/dma_alignment.h): then it is compiled with a warning, and fusing it takes
// nothing away from the machine. Only a group that adds such transfers is refused, because its operators have another
// way.
#pragma once

#include <optional>
#include <string>

#include "fusion/groups/fused_graph.h"
#include "lowering/model/planner.h"
#include "lowering/program/plan_choices.h"
#include "lowering/time/dma_alignment.h"

namespace stowage {

/// Of the unaligned transfers of a group's plan the first that none of its operators makes when planned alone: the same
/// way, from or into the same tensor's memory. `choices` is of this planner and target; it is used and added to.
std::optional<UnalignedTransfer> added_unaligned(const Graph& graph, const FusedOperator& group, const LoopNest& nest,
                                                 const Planner& planner, const Target& target, PlanChoices& choices);

/// What beside the group's own stages that depends on; the same for groups that are equal in all of it. Empty where no
/// transfer of the group can be unaligned.
std::string parts_text(const Graph& graph, const FusedOperator& group, const StageList& stages, const Target& target);

}  // namespace stowage
