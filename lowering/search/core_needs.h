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

}  // namespace stowage
