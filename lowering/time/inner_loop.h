// SPDX-License-Identifier: Apache-2.0
// What a core with two pipelines (core/target.h, Pipelines) takes for the loops that a computation is emitted as
// (emitter/athread/emit_compute.cpp, emit_register_block.cpp): instructions of a trip by the pipeline that they issue
// on, the recurrences between trips, and what each entry of an innermost loop costs.
//
// A static model. Taken for granted are a compiler that fuses products into sums, hoists what does not change, makes
// vector code of the vector form and reorders the instructions of several trips so that only recurrences wait for
// results; and that all of a kernel's code is in the instruction cache.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/target.h"
#include "lowering/ir/compute_form.h"
#include "lowering/ir/loop_nest.h"
#include "lowering/time/known_rows.h"
#include "lowering/time/trip_work.h"

namespace stowage {

class InnerLoop {
 public:
  /// Of a target that has pipelines; nest and compute must outlive this.
  InnerLoop(const LoopNest& nest, const Compute& compute, const Target& target, KnownRows known_rows);

  /// Of one execution whose box has these extents, all at least 1.
  [[nodiscard]] double cycles(std::span<const std::int64_t> extents) const;

 private:
  [[nodiscard]] LoopOperand operand_of(ReadId read) const;
  [[nodiscard]] bool is_aligned(const BufferUse& use, const std::vector<IndexExpr>& index) const;
  [[nodiscard]] double scalar_cycles(std::span<const std::int64_t> extents) const;
  [[nodiscard]] double vector_cycles(std::span<const std::int64_t> extents) const;
  [[nodiscard]] double gathered_cycles(std::span<const std::int64_t> extents) const;
  [[nodiscard]] double unrolled_cycles(std::span<const std::int64_t> extents) const;
  [[nodiscard]] double block_cycles(std::span<const std::int64_t> extents) const;
  [[nodiscard]] double group_cycles(std::span<const std::int64_t> extents, std::int64_t rows,
                                    std::int64_t vectors) const;
  /// The axis of the innermost loop over those from `first` on: an axis of one point has none. Without a loop, the
  /// last.
  [[nodiscard]] std::size_t innermost_axis(std::size_t first) const;
  /// Until the first result of a loop is there, and what sets the loop up.
  [[nodiscard]] double entry_cycles() const;

  const LoopNest& nest_;
  const Compute& compute_;
  const Stage& stage_;
  const ScalarExpr& expression_;  ///< that is computed at a point
  Pipelines pipelines_;
  std::int64_t lanes_;
  KnownRows known_rows_;
  std::vector<LoopOperand> operands_;  ///< of the reads, each once
  bool output_aligned_ = false;
  LaneLoop lane_loop_ = LaneLoop::plain;  ///< in the vector form
};

/// No loop of a part of a stage takes fewer cycles a point on a target that has pipelines, whatever its tile: in none
/// of the forms that a tile of so many lanes at most may have. `ends_sum`: it may be computed in the registers of a sum
/// (lowering/ir/register_chains.h).
double least_cycles_of_point(const Stage& stage, Compute::Part part, const Target& target, std::int64_t most_lanes,
                             bool ends_sum = false);

/// A group of accumulators of a register block.
struct BlockGroup {
  std::int64_t rows = 1;
  std::int64_t vectors = 1;
  double trip = 0;   ///< cycles of a trip of its sum at least
  double entry = 0;  ///< and of each time that it is begun, beside its trips
};

/// All that a part of a stage may be summed in, with operands as good as they can be; none where it is not summed in
/// register blocks.
std::vector<BlockGroup> block_groups(const Stage& stage, Compute::Part part, const Target& target);

}  // namespace stowage
