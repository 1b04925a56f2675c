// SPDX-License-Identifier: Apache-2.0
// Which cores may load an input together: those that want the same boxes of it, in step.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/model/group_model.h"
#include "lowering/model/schedule.h"

namespace stowage {

/// Sharing by buffer where a schedule gives that of tensors (else by each core for itself).
IdVector<BufferId, SharedBy> sharing_by_buffer(const GroupModel& model,
                                               const std::map<std::string, SharedBy>& of_tensors);

/// Why the cores of a row, of a column, or all that are used, cannot load a buffer together where these splits make the
/// core grid, as the end of a sentence that begins with its name; empty if they can.
///
/// A core's number counts the parts of the last split first. So the cores of a row want the same boxes if what moves
/// these is split only between rows: if of each such split the stride, the product of the parts behind it, is a
/// multiple of the columns. Those of a column do if it is split only inside of rows: if the columns are a multiple of
/// each such stride times the parts of its split. And all cores of a row must be there, if not all rows, and for
/// columns these too. They run in step: where parts are of different sizes, some make trips without elements.
std::string why_not_shared(const GroupModel& model, BufferId buffer, const std::vector<ParallelSplit>& parallel,
                           SharedBy wanted, const Target& target);

/// By whom a buffer can be loaded together at most.
SharedBy widest_sharing(const GroupModel& model, BufferId buffer, const std::vector<ParallelSplit>& parallel,
                        const Target& target);

/// The same target, on which every core loads for itself, as published.
Target without_sharing(Target target);

/// Cores that load together, of so many that a nest uses.
std::int64_t cores_of(SharedBy shared, std::int64_t used, const Target& target);

/// Where a get puts what it loads.
Space space_of(SharedBy shared);

/// "core", "row", "column", "mesh".
std::string_view name_of(SharedBy shared);
/// "each core", "the cores of a row", "the cores of a column", "all cores".
std::string_view cores_text(SharedBy shared);
std::optional<SharedBy> sharing_named(std::string_view name);

}  // namespace stowage
