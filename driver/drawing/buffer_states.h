// SPDX-License-Identifier: Apache-2.0
// What every LDM buffer is doing at every statement of a nest, in program order.
#pragma once

#include <vector>

#include "driver/drawing/scene.h"
#include "lowering/ir/loop_nest.h"

namespace stowage::drawing {

enum class BufferState : std::uint8_t { filling, in_use, draining, idle };
/// "in use".
std::string_view name_of(BufferState state);
Ink ink_of(BufferState state);
Hatch pattern_of(BufferState state);

/// A buffer in one state from column `first` to column `last`, both included.
struct BufferSpan {
  BufferId buffer;
  std::size_t first = 0;
  std::size_t last = 0;
  BufferState state = BufferState::idle;
  friend bool operator==(const BufferSpan&, const BufferSpan&) = default;
};

/// A loop or guard around columns, for the brackets above the map.
struct Bracket {
  StatementId statement;
  std::size_t first = 0;
  std::size_t last = 0;
  int depth = 0;
};

struct BufferTimeline {
  std::vector<StatementId> columns;  ///< ids of the statements that touch buffers: DMA, wait, fill, compute
  std::vector<BufferSpan> spans;     ///< by buffer, then by column
  std::vector<Bracket> brackets;     ///< outer ones first
};

/// What moves a buffer's contents, for pictures without time: filling (fetched), draining (stored), or in use (only
/// computed and used).
BufferState moved_by(const LoopNest& nest, BufferId buffer);

/// A buffer lives from its first to its last statement; where it is still needed on the next trip of a loop, to the end
/// of that loop. A DMA's buffer is filling or draining from its statement to its wait.
BufferTimeline buffer_timeline(const LoopNest& nest);

}  // namespace stowage::drawing
