// SPDX-License-Identifier: Apache-2.0
// A sum split over the cores of a row of the mesh (split-K of matrix products). Of few outputs with long sums, as of a
// 16 x 16 product over 65,536 terms, there are not enough for all cores. So the reduction is cut into parts: each core
// of a row sums one of them for the same outputs, and the sums of the parts are added up. To be added they go through
// the registers from LDM to LDM (lowering/ir/register_broadcasts.h), without a way through main memory.
#pragma once

#include <variant>

#include "core/decision.h"
#include "core/stage.h"
#include "core/target.h"
#include "lowering/model/schedule.h"

namespace stowage {

/// The reduction that may be split over the cores of a row, into as many parts as that has, where the stages leave most
/// vectors of the cores without work otherwise; nothing where there is none, and on targets whose cores do not send
/// along rows.
SplitReductions possible_split_reduction(const StageList& stages, const Target& target);

/// The stages with the main stage's sum, product, maximum or minimum cut in two: "Y_parts", of which each part reduces
/// a range of the iterator, and Y, which reduces over the parts. Of the iterator "k" these are the iterators "k_part"
/// and "k". The order in which terms are summed changes. One that is there already is done. Refuses (rule "schedule")
/// what is no iterator of the main reduction, a window, parts of different lengths, and a second iterator.
std::variant<StageList, Decision> split_reductions(StageList stages, const SplitReductions& parts);

/// The parts' iterator, one part a core, whose number counts fastest: along a row of the mesh.
std::string part_iterator_name(const std::string& iterator);

}  // namespace stowage
