// SPDX-License-Identifier: Apache-2.0
// Neighbouring axes of a group taken as one, where every tensor that they index holds them one behind the other: height
// and width of a 1x1 convolution, all axes of an element-wise operator. It is the primitive "fuse" of TVM's schedules
// (swTVM section 5.1). What is computed stays the same, element by element and in the same order; what is gained are
// longer contiguous blocks for DMA, vectors that cross the ends of rows, and tiles and parts of any length.
#pragma once

#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/decision.h"
#include "core/stage.h"
#include "lowering/model/schedule.h"

namespace stowage {

/// The iterators, by the names that schedules give them (group_iterators), of each run of axes that may be taken as
/// one, outermost first: the longest runs. Iterators of `apart` stay by themselves, and so do axes of extent 1.
MergedAxes mergeable_axes(const StageList& stages, const std::set<std::string>& apart);

/// The stages with every run as one axis, whose name is those of the run joined by "_" and whose extent is their
/// product; tensors and stages keep their numbers. A run whose axis is there already is done. Refuses (rule
/// "schedule") what are no neighbours and what a read, a place in memory or an expression keeps apart.
std::variant<StageList, Decision> merge_axes(StageList stages, const MergedAxes& merged);

}  // namespace stowage
