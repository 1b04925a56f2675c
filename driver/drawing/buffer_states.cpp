// SPDX-License-Identifier: Apache-2.0
#include "driver/drawing/buffer_states.h"

#include <algorithm>
#include <map>
#include <optional>

#include "driver/report/nest_outline.h"

namespace stowage::drawing {

namespace {

using Outline = std::vector<StatementPosition>;

const StatementPosition& at(const Outline& outline, int statement) {
  return outline[static_cast<std::size_t>(statement)];
}

bool is_inside(const Outline& outline, int statement, int loop) {
  return statement > loop && statement <= at(outline, loop).last_inside;
}

/// Columns in which a buffer is touched, each with the state that the statement puts it in.
std::map<int, BufferState> touches_of(const LoopNest& nest, const Outline& outline, const std::vector<int>& columns,
                                      BufferId buffer) {
  std::map<int, BufferState> touches;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Stmt& statement = *at(outline, columns[c]).statement;
    const std::vector<BufferId> touched = buffers_of(statement, nest);
    if (std::find(touched.begin(), touched.end(), buffer) == touched.end()) continue;
    const Stmt* transfer = &statement;
    if (const auto* wait = std::get_if<Wait>(&statement.node); wait != nullptr && !wait->slot) {
      transfer = at(outline, *wait->dma).statement;
    }
    BufferState state = BufferState::in_use;
    if (const auto* dma = std::get_if<Dma>(&transfer->node)) {
      state = dma->direction == DmaDirection::get ? BufferState::filling : BufferState::draining;
    }
    touches[static_cast<int>(c)] = state;
  }
  return touches;
}

/// The last column in which the buffer's contents are still wanted.
int end_of_life(const Outline& outline, const std::vector<int>& columns, int first, int last) {
  int end = last;
  const int first_id = columns[static_cast<std::size_t>(first)];
  for (std::optional<int> id = columns[static_cast<std::size_t>(last)]; id; id = at(outline, *id).parent) {
    if (!std::holds_alternative<Loop>(at(outline, *id).statement->node) || is_inside(outline, first_id, *id)) continue;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (is_inside(outline, columns[c], *id)) end = std::max(end, static_cast<int>(c));
    }
  }
  return end;
}

/// Loops and guards around columns.
std::vector<Bracket> brackets_of(const Outline& outline, const std::vector<int>& columns) {
  std::vector<Bracket> brackets;
  for (const StatementPosition& position : outline) {
    if (position.statement == nullptr || body_of(*position.statement) == nullptr) continue;
    std::optional<Bracket> bracket;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!is_inside(outline, columns[c], position.statement->id)) continue;
      const int column = static_cast<int>(c);
      if (!bracket) bracket = Bracket{position.statement->id, column, column, position.depth};
      bracket->last = column;
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

Pattern pattern_of(BufferState state) {
  switch (state) {
    case BufferState::filling: return Pattern::rising;
    case BufferState::draining: return Pattern::falling;
    case BufferState::in_use:
    case BufferState::idle: return Pattern::none;
  }
  return Pattern::none;
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
    const int first = touches.begin()->first;
    const int end = end_of_life(outline, timeline.columns, first, touches.rbegin()->first);
    BufferState moving = BufferState::idle;  // what it does between statements: a transfer goes on until its wait
    for (int column = first; column <= end; ++column) {
      BufferState state = moving;
      if (const auto touch = touches.find(column); touch != touches.end()) {
        state = touch->second;
        const Stmt& statement = *at(outline, timeline.columns[static_cast<std::size_t>(column)]).statement;
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
