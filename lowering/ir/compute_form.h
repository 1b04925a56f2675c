// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "core/target.h"
#include "lowering/ir/loop_nest.h"

namespace stowage {

/// How a read's address moves along an axis: not at all, element by element, by a constant stride, or otherwise.
enum class LaneUse : std::uint8_t { none, contiguous, strided, other };
LaneUse lane_use(const Access& access, VarId lane);

/// Whether the element that an access reads depends on an axis of its stage.
bool moves_along(const Access& access, VarId axis);

/// Rows of a register block that go with so many lanes at most: fewer vectors leave registers for more rows.
std::int64_t register_block_rows(std::int64_t most_lanes, std::int64_t lanes_of_vector);

/// The same where it is known how many rows there are: these in blocks of nearly equal size.
std::int64_t rows_of_block(std::int64_t count, std::int64_t most_lanes, std::int64_t lanes_of_vector);

/// Rows of the block that follows blocks of so many, where fewer are left and it is not known how many; 0: none.
constexpr std::int64_t smaller_block(std::int64_t rows) { return rows / 2; }

/// Vectors of a group of accumulators that `count` lanes are cut into, by nearly equal numbers: fewer rows leave
/// registers for more vectors.
std::int64_t vectors_of_group(std::int64_t count, std::int64_t rows, std::int64_t lanes_of_vector);

/// The most vectors that go with so many rows.
std::int64_t most_vectors_of_group(std::int64_t rows);

/// Chooses form, lane axis and block axis of a Compute whose buffers and box are set.
///
/// vector: the output's contiguous axis runs innermost. register_block: besides, the body is the product of two float32
/// reads of which one moves along the lane axis by a constant stride and the other does not depend on it (outer-product
/// form of a matmul or a convolution), vectors of a stride other than 1 being gathered, or both are contiguous along it
/// (a depthwise convolution whose lanes are channels), or the sum or maximum of what one float32 read gives
/// that moves along the lane axis (a pooling). Along the block axis one read moves. Otherwise scalar, as
/// everything is on a target of one lane.
void choose_form(const LoopNest& nest, Compute& compute, const Target& target);

/// Whether a Compute can run in the form that it has: choose_form may prefer another one.
bool may_have_form(const LoopNest& nest, const Compute& compute, const Target& target);

/// True if every read of a Compute is contiguous along its lane axis or does not depend on it: the loop then runs at
/// the vector rate.
bool is_contiguous_along_lane(const LoopNest& nest, const Compute& compute);

/// True if a map or a finish whose last spatial axis is its lanes may run in vectors although reads are strided along
/// them: these are gathered, element by element. So are float32 values that are added, subtracted, multiplied, divided,
/// or bounded by a number.
bool may_gather_lanes(const Stage& stage, Compute::Part part);

/// How the lanes of a Compute in the vector form are emitted. plain: as a loop that the compiler makes vectors of.
/// gathered: in vectors of floatv4, of which some are gathered. unrolled: all vectors of a row of a few, one behind
/// another, in the loop over the rows: a loop over two vectors would take longer to enter than to run.
enum class LaneLoop : std::uint8_t { plain, gathered, unrolled };
LaneLoop lane_loop(const LoopNest& nest, const Compute& compute, const Target& target);

/// The innermost axis of several points around the lanes; none where there is none.
std::optional<VarId> row_axis(const Compute& compute);

/// Shorter loops along the lane axis are not vectorised: they fill no vector. Of one lane nothing is.
std::int64_t shortest_vector_loop(const Target& target);

/// True if every read of a part of a stage is contiguous along its last spatial axis or does not depend on it: where
/// that axis runs long enough, the part runs at the vector rate.
bool may_run_along_lane(const Stage& stage, Compute::Part part);

/// True if a part of a stage is summed in register blocks where its last spatial axis runs long enough.
bool may_block_registers(const Stage& stage, Compute::Part part);

/// Type of the elements that a part of a stage computes.
ElementType result_type(const Stage& stage, Compute::Part part);

/// Operations of a part of a stage at one point, as the time model counts them.
std::int64_t operations_of(const Stage& stage, Compute::Part part);

}  // namespace stowage
