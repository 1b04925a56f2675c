// SPDX-License-Identifier: Apache-2.0
// Symbolic boxes: which values the axes of a group's stages take on one core or in one tile, as expressions of the
// nest's variables. The root's axes are iterators; an earlier stage's axes follow from what its readers demand,
// in = (out - 1) * stride + kernel, clipped to its tensor.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "lowering/model/group_model.h"

namespace stowage {

/// First and last value of something, both included.
struct Span {
  IndexExpr low;
  IndexExpr high;
};

/// An iterator's values on this core, and in the current tile. Whole iterators have one tile, the core's range.
struct IteratorTile {
  IndexExpr core_start, core_extent;
  IndexExpr start, extent;
  bool whole = false;
};

class TileBoxes {
 public:
  /// `tiles` by iterator of the model; both must outlive this, and tiles may change as loops are entered.
  TileBoxes(const GroupModel& model, const IdVector<IteratorId, IteratorTile>& tiles)
      : model_(&model), tiles_(&tiles) {}

  /// Bounds of an index of a stage's access when each axis runs over a span.
  [[nodiscard]] Span hull(const IndexExpr& e, StageId stage, const std::function<Span(VarId)>& axis) const;
  /// Values of a stage's axis inside the loops of the iterators `fixed`: the tile of these, else the core's range.
  [[nodiscard]] Span axis_span(StageId stage, VarId axis, const std::set<IteratorId>& fixed) const;
  /// What the readers of a stage's output want of one dimension, not clipped to the tensor.
  [[nodiscard]] Span demanded_span(StageId stage, VarId axis, const std::set<IteratorId>& fixed) const;

 private:
  [[nodiscard]] Span reader_axis_span(StageId reader, VarId axis, const std::set<IteratorId>& fixed) const;
  [[nodiscard]] const Stage& stage(StageId s) const { return model_->list->stages[s]; }

  const GroupModel* model_;
  const IdVector<IteratorId, IteratorTile>* tiles_;
};

/// Bounds of an index over all points of a stage.
Interval whole_bounds(const Stage& stage, const IndexExpr& index);

}  // namespace stowage
