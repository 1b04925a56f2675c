// SPDX-License-Identifier: Apache-2.0
// Typed indices. An Id<Tag> is a 32-bit index into one table; ids of different tables do not mix.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace stowage {

template <class Tag>
struct Id {
  std::uint32_t value = 0;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : value(static_cast<std::uint32_t>(index)) {}
  [[nodiscard]] constexpr std::size_t index() const { return value; }
  constexpr Id& operator++() {
    ++value;
    return *this;
  }
  constexpr Id operator++(int) { return Id(std::size_t{value++}); }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using OpId = Id<struct OpTag>;                    ///< an operator; also its vertex index in the Boost.Graph graph
using TensorId = Id<struct TensorTag>;            ///< a tensor of a Graph
using VarId = Id<struct VarTag>;                  ///< an integer variable of a Stage (its axes) or of a LoopNest
using StageTensorId = Id<struct StageTensorTag>;  ///< a tensor of a StageList
using StageId = Id<struct StageTag>;              ///< a stage of a StageList
using ReadId = Id<struct ReadTag>;                ///< a read of a Stage
using StepId = Id<struct StepTag>;                ///< a step of a Program
using NestTensorId = Id<struct NestTensorTag>;    ///< a tensor in main memory of a LoopNest
using IteratorId = Id<struct IteratorTag>;        ///< an iterator of a fused operator's model
/// An LDM buffer of a fused operator: of its model, of the nests made from that, and of what is recorded about both.
using BufferId = Id<struct BufferTag>;
using SlotId = Id<struct SlotTag>;  ///< a slot of a buffer of a LoopNest, numbered throughout all of its buffers
using CostId = Id<struct CostTag>;  ///< a row of a cost table (lowering/time/cost_table.h)
/// A statement of a step's plan, by which its text, the emitted code and what is measured of it name it: of a loop nest
/// Stmt::id.
using StatementId = Id<struct StatementTag>;

}  // namespace stowage
