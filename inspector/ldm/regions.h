// SPDX-License-Identifier: Apache-2.0
// Which part of its tensor every LDM buffer holds at one position of the loops, on one core and on the others, and a
// picture of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inspector/draw/drawing.h"
#include "inspector/look/look.h"
#include "inspector/state/loaded_plan.h"

namespace stowage::inspector {

/// A loop of a nest, in program order, with the trips that it makes at most on any core.
struct LoopRange {
  StatementId statement;
  std::string name;
  std::int64_t trips = 1;
};
std::vector<LoopRange> loops_of(const StepFacts& step);

/// A core, and the trip that every loop is at. Loops that are not named are at their first.
struct LoopPosition {
  int core = 0;
  std::map<StatementId, std::int64_t> trips;  ///< by the loop's statement, from 0
  friend bool operator==(const LoopPosition&, const LoopPosition&) = default;
};

/// One dimension of a region, in elements of the tensor: [first, first + size).
struct Extent {
  std::int64_t first = 0;
  std::int64_t size = 0;
  friend bool operator==(const Extent&, const Extent&) = default;
};

struct BufferRegion {
  BufferId buffer;
  std::vector<std::int64_t> shape;  ///< of the tensor
  /// What of the tensor lies in the buffer, padding left out; empty (a size of 0) where the core has nothing to do
  /// there. Nothing where it depends on data.
  std::optional<std::vector<Extent>> extents;
  [[nodiscard]] std::int64_t elements() const;  ///< in the region; 0 where it is not known
};

/// Every buffer of the nest: the region of its transfer, or, of an intermediate, the box that it holds. A trip beyond a
/// core's last counts as that core's last.
IdVector<BufferId, BufferRegion> regions_at(const StepFacts& step, const LoopPosition& position);

/// The tensors with the regions of one core filled, those of the others outlined.
Drawing regions_drawing(const LoadedPlan& plan, std::optional<StepId> step, const LoopPosition& position,
                        const Look& look, QSizeF room);

}  // namespace stowage::inspector
