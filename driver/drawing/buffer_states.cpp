// SPDX-License-Identifier: Apache-2.0
#include "driver/drawing/buffer_states.h"

#include <algorithm>
#include <map>
#include <optional>

#include "driver/report/nest_outline.h"

namespace stowage::drawing {

namespace {

using Outline = IdVector<StatementId, StatementPosition>;

bool is_inside(const Outline& outline, StatementId statement, StatementId loop) {
  return statement > loop && statement <= outline[loop].last_inside;
}

/// Columns in which a buffer is touched, each with the state that the statement puts it in.
std::map<std::size_t, BufferState> touches_of(const LoopNest& nest, const Outline& outline,
                                              const std::vector<StatementId>& columns, BufferId buffer) {
  std::map<std::size_t, BufferState> touches;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Stmt& statement = *outline[columns[c]].statement;
    const std::vector<BufferId> touched = buffers_of(statement, nest);
    if (std::find(touched.begin(), touched.end(), buffer) == touched.end()) continue;
    const Stmt* transfer = &statement;
    if (const auto* wait = std::get_if<Wait>(&statement.node); wait != nullptr && !wait->slot) {
      transfer = outline[*wait->dma].statement;
    }
    BufferState state = BufferState::in_use;
    if (const auto* dma = std::get_if<Dma>(&transfer->node)) {
      state = dma->direction == DmaDirection::get ? BufferState::filling : BufferState::draining;
    }
    touches[c] = state;
  }
  return touches;
}

/// The last column in which the buffer's contents are still wanted.
std::size_t end_of_life(const Outline& outline, const std::vector<StatementId>& columns, std::size_t first,
                        std::size_t last) {
  std::size_t end = last;
  const StatementId first_id = columns[first];
  for (std::optional<StatementId> id = columns[last]; id; id = outline[*id].parent) {
    if (!std::holds_alternative<Loop>(outline[*id].statement->node) || is_inside(outline, first_id, *id)) continue;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (is_inside(outline, columns[c], *id)) end = std::max(end, c);
    }
  }
  return end;
}

/// Loops and guards around columns.
std::vector<Bracket> brackets_of(const Outline& outline, const std::vector<StatementId>& columns) {
  std::vector<Bracket> brackets;
  for (const StatementPosition& position : outline) {
    if (position.statement == nullptr || body_of(*position.statement) == nullptr) continue;
    std::optional<Bracket> bracket;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!is_inside(outline, columns[c], position.statement->id)) continue;
      if (!bracket) bracket = Bracket{position.statement->id, c, c, position.depth};
      bracket->last = c;
    }
    if (bracket) brackets.push_back(*bracket);
  }
  return brackets;
}

}  // namespace

std::string_view name_of(BufferState state) {
  switch (state) {
    case BufferState::filling: return "filling";
    case BufferState::in_use: return "in use";
    case BufferState::draining: return "draining";
    case BufferState::idle: return "idle";
  }
  return "";
}

Ink ink_of(BufferState state) {
  switch (state) {
    case BufferState::filling: return Ink::get;
    case BufferState::in_use: return Ink::compute;
    case BufferState::draining: return Ink::put;
    case BufferState::idle: return Ink::idle;
  }
  return Ink::idle;
}

Hatch pattern_of(BufferState state) {
  switch (state) {
    case BufferState::filling: return Hatch::rising;
    case BufferState::draining: return Hatch::falling;
    case BufferState::in_use:
    case BufferState::idle: return Hatch::none;
  }
  return Hatch::none;
}

BufferState moved_by(const LoopNest& nest, BufferId buffer) {
  const Buffer& held = nest.buffers.at(buffer);
  switch (nest.stages.tensors.at(held.tensor).role) {
    case TensorRole::input:
    case TensorRole::constant: return BufferState::filling;
    case TensorRole::output: return BufferState::draining;
    case TensorRole::intermediate: return BufferState::in_use;
  }
  return BufferState::in_use;
}

BufferTimeline buffer_timeline(const LoopNest& nest) {
  BufferTimeline timeline;
  const Outline outline = nest_outline(nest);
  for (const StatementPosition& position : outline) {
    if (position.statement == nullptr) continue;
    if (!buffers_of(*position.statement, nest).empty()) timeline.columns.push_back(position.statement->id);
  }
  timeline.brackets = brackets_of(outline, timeline.columns);
  for (const BufferId b : nest.buffers.ids()) {
    const auto touches = touches_of(nest, outline, timeline.columns, b);
    if (touches.empty()) continue;
    const std::size_t first = touches.begin()->first;
    const std::size_t end = end_of_life(outline, timeline.columns, first, touches.rbegin()->first);
    BufferState moving = BufferState::idle;  // what it does between statements: a transfer goes on until its wait
    for (std::size_t column = first; column <= end; ++column) {
      BufferState state = moving;
      if (const auto touch = touches.find(column); touch != touches.end()) {
        state = touch->second;
        const Stmt& statement = *outline[timeline.columns[column]].statement;
        moving = std::holds_alternative<Dma>(statement.node) ? state : BufferState::idle;
      }
      BufferSpan* before = timeline.spans.empty() ? nullptr : &timeline.spans.back();
      if (before != nullptr && before->buffer == b && before->state == state) {
        before->last = column;
      } else {
        timeline.spans.push_back({b, column, column, state});
      }
    }
  }
  return timeline;
}

}  // namespace stowage::drawing
