// SPDX-License-Identifier: Apache-2.0
// Instructions of one trip of the loops that computations are emitted as (inner_loop.h), by form.
#pragma once

#include <cstdint>
#include <span>

#include "core/target.h"
#include "lowering/ir/compute_form.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

// The two halves of a vector that lies across two of the LDM, and putting them together.
inline constexpr double unaligned_loads = 2;
inline constexpr double unaligned_arithmetic = 1;

/// Instructions of one trip of an inner loop.
struct TripWork {
  double arithmetic = 0;
  double memory = 0;      ///< loads, stores and the branch
  double either = 0;      ///< address arithmetic, which issues beside any other
  double recurrence = 0;  ///< cycles until the next trip may begin what depends on this one
  double alone = 0;       ///< cycles of divisions and functions, beside which nothing issues

  [[nodiscard]] double cycles() const;
};

/// A read of a computation, as its inner loop sees it.
struct LoopOperand {
  LaneUse lane = LaneUse::none;  ///< how its address moves along the lanes
  bool by_block = false;         ///< moves along the block axis
  bool aligned = false;          ///< contiguous along the lanes, and every vector begins at a multiple of its size
  bool inner = true;             ///< moves along the innermost loop of the scalar form
  bool by_row = true;            ///< moves along the loop around the lanes
  bool in_registers = false;     ///< the sum that a computation in its accumulators goes on with
};

/// What is computed in one trip over so many lanes, loads and stores left out.
TripWork body_of(const Stage& stage, Compute::Part part, const Pipelines& pipelines, std::int64_t lanes);

/// A trip of the scalar form: what is summed stays in a register.
TripWork scalar_trip(const Stage& stage, Compute::Part part, const Pipelines& pipelines,
                     std::span<const LoopOperand> operands);

/// A trip of the vector form over so many lanes: what is summed stays in the LDM.
TripWork vector_trip(const Stage& stage, Compute::Part part, const Pipelines& pipelines,
                     std::span<const LoopOperand> operands, std::int64_t lanes);

/// A trip of the vector form over a vector of so many lanes, of which some reads are gathered.
TripWork gathered_trip(const Stage& stage, Compute::Part part, const Pipelines& pipelines,
                       std::span<const LoopOperand> operands, std::int64_t lanes, bool output_aligned);

/// A trip of the loop around lanes that are unrolled to so many vectors: what does not move along it is loaded before.
TripWork unrolled_trip(const Stage& stage, Compute::Part part, const Pipelines& pipelines,
                       std::span<const LoopOperand> operands, std::int64_t lanes, std::int64_t vectors,
                       bool output_aligned);

/// A trip of a register block of so many rows and vectors of `lanes`; no vectors: of single lanes. Of a maximum a
/// register holds NaN once it has met one, which takes more than a comparison and a selection.
TripWork block_trip(const Stage& stage, const Pipelines& pipelines, std::span<const LoopOperand> operands,
                    std::int64_t rows, std::int64_t vectors, std::int64_t lanes);

/// Of what is computed in the accumulators of a block of so many rows and vectors, which its sum stores; constants are
/// in registers. The results of one vector wait for each other, beside those of the others.
TripWork end_of_block(const Stage& stage, const Pipelines& pipelines, std::span<const LoopOperand> operands,
                      std::int64_t rows, std::int64_t vectors, std::int64_t lanes);

}  // namespace stowage
