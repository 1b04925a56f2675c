// SPDX-License-Identifier: Apache-2.0
// What a core needs of every axis and every buffer's dimension to compute its part of a group's output, whatever the
// buffer sizes and the loop order are.
#pragma once

#include <cstdint>
#include <vector>

#include "core/index_expr.h"
#include "lowering/model/group_model.h"

namespace stowage {

/// What a core needs at least of one axis or dimension.
struct Reach {
  Interval hull;           ///< first and last value
  std::int64_t count = 0;  ///< at least so many different values
  bool exact = true;       ///< all values of the hull

  [[nodiscard]] std::int64_t length() const { return hull.high < hull.low ? 0 : hull.high - hull.low + 1; }
};

/// The reaches of every stage's axes and every buffer's dimensions on one core.
class CoreNeeds {
 public:
  explicit CoreNeeds(const GroupModel& model) : model_(model), of_stage_(model.list->stages.size()) {}

  /// `tiles`: what the core has of every iterator.
  void find(const IdVector<IteratorId, Interval>& tiles);

  [[nodiscard]] const Reach& axis(StageId stage, std::size_t a) const { return of_stage_[stage][a]; }
  [[nodiscard]] Reach dimension(const ModelBuffer& buffer, std::size_t d) const;

 private:
  [[nodiscard]] const Stage& stage_of(StageId s) const { return model_.list->stages[s]; }
  [[nodiscard]] Reach demanded(StageId s, std::size_t a) const;

  const GroupModel& model_;
  IdVector<StageId, std::vector<Reach>> of_stage_;
};

/// One dimension over the parts of the iterator that moves it.
struct Cut {
  std::int64_t sum = 0;      ///< of what the parts need
  std::int64_t least = 0;    ///< by one part
  std::int64_t maximum = 0;  ///< by one part
  std::int64_t longest = 0;  ///< hull of a part
};

/// A buffer's dimension or a stage's axis: which cut iterators move it, and what each way to cut them makes of it.
struct CutDimension {
  std::vector<IteratorId> moved_by;  ///< spatial iterators
  Reach whole;
  std::vector<Cut> by_choice;  ///< of the only iterator in moved_by
  std::vector<Cut> measured;   ///< the same of the iterator that is looked at
  Reach together;              ///< all iterators cut
};

/// A dimension that several iterators move may need nothing on some core: nothing is known of such a buffer.
bool several_move_one(const std::vector<CutDimension>& dimensions);

struct CutDimensions {
  IdVector<BufferId, std::vector<CutDimension>> of_buffer;  ///< by dimension
  IdVector<StageId, std::vector<CutDimension>> of_stage;    ///< by spatial axis
};

/// `choices`: numbers of parts of every spatial iterator.
CutDimensions cut_dimensions(const GroupModel& model, const IdVector<IteratorId, std::vector<std::int64_t>>& choices);

/// Elements that one DMA call moves at most of boxes of these extents or less: a block, and a count of them. Each ends
/// with a dimension of which it has a part only.
std::int64_t most_of_call(const StageTensor& tensor, const std::vector<std::int64_t>& extents);

}  // namespace stowage
