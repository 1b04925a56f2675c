// SPDX-License-Identifier: Apache-2.0
// A loop nest of plan.json on its way back. Its text is what is taken: it is parsed and judged, not made again, so that
// a folder stays readable when lowering makes better nests.
//
// What makes a text a nest of its fused operator:
//  - It computes what the graph says. Its tensors and stages are those that the group's operators define, one by one:
//    the same shapes, types, roles, graph tensors, values of constants and places in memory, the same axes, reads and
//    expressions. Only names and notes are free, since no result depends on them. Stages that compute the same in
//    another way are refused: that two of them are equal is shown by their form alone. Axes have the form that its
//    schedule gives them (lowering/model/stage_form.h) in both.
//  - It computes it soundly: verify() and verify_results(), which read_plan() asks (stored_plan.h).
//  - It is the nest of the schedule that stands beside it (stored_schedule.h).
// A text that was edited may pass all this: then it is another plan of the same network.
#pragma once

#include <optional>
#include <string>

#include "core/target.h"
#include "fusion/groups/fused_graph.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/model/group_model.h"
#include "lowering/model/schedule.h"
#include "lowering/model/stage_form.h"

namespace stowage {

/// Parses the nest of a sound group, gives its constants their values and shows the first of it, save where its tensors
/// lie. Throws Damage.
LoopNest read_nest(const std::string& text, const Graph& graph, const FusedOperator& group, const StageForm& form);

/// What of a nest's tensors in main memory is not as the graph has it, or nothing: kernels get them in the order of the
/// stages' tensors, each where the memory map puts it.
std::optional<std::string> other_memory(const LoopNest& nest, const GroupModel& model);

}  // namespace stowage
