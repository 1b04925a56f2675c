// SPDX-License-Identifier: Apache-2.0
// The algorithms of swTVM (arXiv 1904.07404, versions 1 and 2) as the published text means them; docs/swtvm.md lists
// where that differs from the printed pseudocode and why.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/decision.h"
#include "core/target.h"
#include "core/trace.h"
#include "lowering/model/group_model.h"
#include "lowering/model/residents.h"
#include "lowering/model/schedule.h"

namespace stowage {

/// The parallel split (section 5.4). As the fuse primitive does, spatial iterators are combined from the highest one
/// downwards until they have four elements a core; these are cut into a grid of at most `cores.count` parts so that the
/// busiest core has least to do, among equals the higher dimensions first. Cores do not exchange results, so what the
/// parts of a group's earlier stages overlap counts on each of them; to keep that small a group of several stages may
/// be cut along every dimension but the lowest.
std::vector<ParallelSplit> split_over_cores(const GroupModel& model, int cores);
/// Range of every iterator on one core under a split.
IteratorSizes core_ranges(const GroupModel& model, const std::vector<ParallelSplit>& parallel);

/// Buffer sizes and which iterators are buffered whole (these have no outer loop).
struct LdmSizes {
  IteratorSizes size;
  IdVector<IteratorId, bool> whole;
};
/// Algorithm 1. `fixed` holds sizes that a person has set (0: free), `slots` those of the buffers (none given: one
/// each). What is resident is larger than the tiles.
std::variant<LdmSizes, Decision> manage_ldm(const GroupModel& model, const IteratorSizes& ranges,
                                            const IteratorSizes& fixed, const Target& target, const GroupTrace& trace,
                                            const IdVector<BufferId, int>& slots = {}, const Residents& residents = {});

/// An outer loop: an iterator that is not buffered whole.
struct OuterLoop {
  IteratorId iterator;
  std::string name;  ///< "x" where buffered by one element, "yo" otherwise
  std::int64_t trips = 1;
};
TracedLoop traced(const GroupModel& model, const OuterLoop& loop);
/// The parts of a split sum have none: each core has one part.
std::vector<OuterLoop> outer_loops(const GroupModel& model, const IteratorSizes& ranges, const LdmSizes& sizes);

/// Algorithm 2: order of the outer loops, outermost first. `sizes` are the buffers' by iterator.
std::vector<OuterLoop> reorder_loops(const GroupModel& model, const std::vector<OuterLoop>& loops,
                                     const IteratorSizes& sizes, const GroupTrace& trace,
                                     const Residents& residents = {});

/// Algorithm 3: for every buffer, the number of loops of its path around its transfer (0: before the first loop).
/// The path of a buffer is the spatial loops, then those of the main stage's reduction, then of its own stage. An
/// intermediate has no transfer: its place is where it is computed.
IdVector<BufferId, std::size_t> insert_dma(const GroupModel& model, const std::vector<OuterLoop>& order,
                                           const GroupTrace& trace, const Residents& residents = {});
/// The first buffer that is resident along an iterator whose loop is around its place: it is loaded again there all the
/// same.
std::optional<BufferId> moved_resident(const GroupModel& model, const std::vector<OuterLoop>& order,
                                       const IdVector<BufferId, std::size_t>& depth, const Residents& residents);
/// The loops that can stand around a buffer's transfer, outermost first, as indices into `order`.
std::vector<std::size_t> path_of(const GroupModel& model, const std::vector<OuterLoop>& order,
                                 const ModelBuffer& buffer);

}  // namespace stowage
