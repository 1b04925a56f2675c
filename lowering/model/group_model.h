// SPDX-License-Identifier: Apache-2.0
// What the planning algorithms see of a fused operator: its iterators and the LDM buffers it needs, each buffer with
// the iterators that occur in every dimension (swTVM algorithm 4, "analyze correlation").
//
// Iterators are the spatial axes of the last stage (the root) followed by the reduction axes of all stages in order.
// The spatial axes of earlier stages are not iterators: an earlier stage is computed for the region that its readers
// demand, in = (out - 1) * stride + kernel, so its axes are expressed by those of its readers.
//
// The loops of one reduction stand around everything that is computed before it: those of the last stage that reduces,
// if all that follows takes its result element by element (the activation behind a convolution). What other stages
// reduce is demanded of their producers as a whole.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/id_vector.h"
#include "core/ids.h"
#include "core/stage.h"
#include "core/target.h"

namespace stowage {

struct ModelIterator {
  std::string name;
  std::int64_t extent = 1;
  bool spatial = true;
  StageId stage;
  VarId axis;  ///< of that stage
};

/// A number of each iterator: elements of a tile, of a core's range.
using IteratorSizes = IdVector<IteratorId, std::int64_t>;

/// The iterators of a stage's axes, of those that have one.
using NumberOfAxis = IdVector<VarId, std::optional<IteratorId>>;

/// A read of a stage.
using StageRead = std::pair<StageId, ReadId>;

/// One LDM buffer: a box of a tensor read by one or more stages at the same indices, or written by a stage.
struct ModelBuffer {
  enum class Kind : std::uint8_t { input, intermediate, output };
  Kind kind = Kind::input;
  StageTensorId tensor;
  std::string name;              ///< of the tensor, with a number where it has several buffers
  StageId stage;                 ///< reader (input) or writer
  std::vector<StageRead> reads;  ///< those served by it
  std::vector<IndexExpr> index;  ///< per dimension, highest first, over the axes of `stage`
  std::optional<double> padding;
  std::vector<std::set<IteratorId>> iterators;  ///< per dimension, highest first: iterators that occur in it
  std::optional<BufferId> shares_with;          ///< overwritten in place: another one
  bool is_received = false;                     ///< gets by broadcasts what the cores of a row have computed
  std::set<IteratorId> moved_by;                ///< iterators that occur in any dimension
  bool gathered = false;                        ///< an index is the value of an integer tensor
  bool gives_index = false;                     ///< its values are in the index of another read
  bool finishes_only = false;                   ///< an input that is read once its stage's sums are complete
};

/// Which values of a stage's axis one tile of the iterators demands: tile + window, before clipping to the tensor.
struct AxisDemand {
  bool exact = true;    ///< false: an index that is no such sum (its only reader divides or looks up)
  IndexExpr tile;       ///< what moves with the tiles; VarId is the number of an iterator
  Interval window;      ///< what is demanded around it: kernels of windows, the whole range of an inner reduction
  Interval reach = {};  ///< of an earlier stage's: demanded_bounds
};

/// A reduction that the cores of a row of the mesh split (lowering/model/split_reductions.h).
struct SplitSum {
  IteratorId parts;   ///< of the main stage: one for each core of the row
  StageId of_part;    ///< reduces one of them
  BufferId computed;  ///< its result, of the core's own part
  BufferId received;  ///< the same of another core
};

struct GroupModel {
  const StageList* list = nullptr;
  IdVector<IteratorId, ModelIterator> iterators;
  IdVector<BufferId, ModelBuffer> buffers;
  StageId root;  ///< the last stage
  StageId main;  ///< the stage whose reduction loops stand around its producers: the root, or one before a tail
  IdVector<StageId, bool> in_tail;  ///< computed from the main stage's result, on the same tile, once it is complete
  std::set<IteratorId> pinned;      ///< iterators that must be buffered by one (data-dependent addresses)
  std::optional<SplitSum> split_sum;
  bool reads_sums_only = true;  ///< every index of a read is a sum of axes: no division, no table, no value
  /// Reductions of the main stage whose tiles overlap in what its producers compute or read: a window's (neighbouring
  /// rows of it want the same rows of the producer), and a sum's over results that are sums of the same operands.
  std::set<IteratorId> overlapping;
  std::map<StageRead, BufferId> buffer_of_read;  ///< that it is served from
  IdVector<StageId, BufferId> buffer_of_output;
  IdVector<StageId, IdVector<VarId, AxisDemand>> demands;
  IdVector<StageId, NumberOfAxis> iterator_of_axis;

  [[nodiscard]] bool is_stored(StageId stage) const;  ///< its result is an output of the group
  [[nodiscard]] std::optional<IteratorId> iterator_of(
      StageId stage, VarId axis) const;  ///< none for a spatial axis of an earlier stage
  [[nodiscard]] bool is_main_reduction(IteratorId iterator) const;
  [[nodiscard]] std::optional<IteratorId> iterator_named(const std::string& name) const;
  [[nodiscard]] std::vector<StageRead> readers_of(StageId stage) const;  ///< of its output
};

GroupModel build_group_model(const StageList& list, const Target& target);
/// For who asks for names and iterators only, which are the same of every target. Gathered rows are held by one.
GroupModel model_of_no_target(const StageList& list);

/// What is stored of an earlier stage is stored tile by tile, each element once: so the iterators that move it must lie
/// outside of all others that have a loop, and no other may be split over cores. Ranks of iterators by how far outside
/// their loops belong, 0 first; all 0 where the group stores one tensor only.
IdVector<IteratorId, int> ranks_of_stores(const GroupModel& model);
/// True if an iterator moves every tensor that the group stores, so that cores may share it.
bool moves_all_stores(const GroupModel& model, IteratorId iterator);

/// Cores of a row that sum parts of the same outputs; 1 where no sum is split.
std::int64_t cores_of_split_sum(const GroupModel& model);
/// Whether an iterator counts the parts of a split sum. Its loop adds them up; no schedule has it.
bool counts_parts(const GroupModel& model, const std::string& iterator);

/// The last of the buffers that overwrite each other in place, beginning with this one: its box is that of all.
BufferId frame_of(const GroupModel& model, BufferId buffer);
/// A demand without tiles of reductions: all their values belong to its window.
AxisDemand with_whole_reductions(AxisDemand demand, const GroupModel& model);
/// Static bounds of what a stage's readers want of a dimension of its output, to see whether they look outside of it.
Interval demanded_bounds(const GroupModel& model, StageId stage, VarId axis);

/// Largest number of elements that a stage's axis spans in one tile, for buffer sizes by iterator.
std::int64_t axis_extent(const GroupModel& model, StageId stage, VarId axis, const IteratorSizes& sizes);
/// Allocated elements per dimension of a buffer, for buffer sizes by iterator.
std::vector<std::int64_t> buffer_extents(const GroupModel& model, const ModelBuffer& buffer,
                                         const IteratorSizes& sizes);

/// Operations of a stage for one tile: its points, whole reductions included, times what each of them computes.
std::int64_t stage_operations(const GroupModel& model, StageId stage, const IteratorSizes& sizes);

/// Largest span of an index expression when axis a spans `extent(a)` consecutive values; at most `dimension` unless
/// `unclipped`.
std::int64_t span_of(const IndexExpr& index, const std::function<std::int64_t(VarId)>& extent);

/// Iterators of a group as schedules name them, spatial ones first, with their ranges.
struct GroupIterator {
  std::string name;
  std::int64_t extent = 1;
  bool spatial = true;
};
std::vector<GroupIterator> group_iterators(const StageList& stages);

}  // namespace stowage
