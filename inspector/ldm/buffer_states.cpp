// SPDX-License-Identifier: Apache-2.0
#include "inspector/ldm/buffer_states.h"

#include <algorithm>
#include <map>
#include <optional>

#include "inspector/code/code_text.h"

namespace stowage::inspector {

namespace {

bool is_inside(const StepFacts& step, int statement, int loop) {
  const StatementFacts* facts = step.find(loop);
  return facts != nullptr && statement > loop && statement <= facts->last_inside;
}

/// Columns in which a buffer is touched, each with the state that the statement puts it in.
std::map<int, BufferState> touches_of(const StepFacts& step, const std::vector<int>& columns, int buffer) {
  std::map<int, BufferState> touches;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Stmt& statement = *step.find(columns[c])->statement;
    const std::vector<int> touched = buffers_of(statement, step.plan->nest);
    if (std::find(touched.begin(), touched.end(), buffer) == touched.end()) continue;
    const Stmt* transfer = &statement;
    if (const auto* wait = std::get_if<Wait>(&statement.node)) transfer = step.find(wait->dma)->statement;
    BufferState state = BufferState::in_use;
    if (const auto* dma = std::get_if<Dma>(&transfer->node)) {
      state = dma->direction == DmaDirection::get ? BufferState::filling : BufferState::draining;
    }
    touches[static_cast<int>(c)] = state;
  }
  return touches;
}

/// The last column in which the buffer's contents are still wanted.
int end_of_life(const StepFacts& step, const std::vector<int>& columns, int first, int last) {
  int end = last;
  const int first_id = columns[static_cast<std::size_t>(first)];
  for (const StatementFacts* around = step.find(columns[static_cast<std::size_t>(last)]); around != nullptr;
       around = step.find(around->parent)) {
    const int id = around->statement->id;
    if (!std::holds_alternative<Loop>(around->statement->node) || is_inside(step, first_id, id)) continue;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (is_inside(step, columns[c], id)) end = std::max(end, static_cast<int>(c));
    }
  }
  return end;
}

}  // namespace

BufferState moved_by(const LoopNest& nest, int buffer) {
  const Buffer& held = nest.buffers.at(static_cast<std::size_t>(buffer));
  switch (nest.stages.tensors.at(static_cast<std::size_t>(held.tensor)).role) {
    case TensorRole::input:
    case TensorRole::constant: return BufferState::filling;
    case TensorRole::output: return BufferState::draining;
    case TensorRole::intermediate: return BufferState::in_use;
  }
  return BufferState::in_use;
}

BufferTimeline buffer_timeline(const StepFacts& step) {
  BufferTimeline timeline;
  if (step.plan == nullptr) return timeline;
  for (const StatementFacts& facts : step.statements) {
    if (facts.statement == nullptr) continue;
    if (!buffers_of(*facts.statement, step.plan->nest).empty()) timeline.columns.push_back(facts.statement->id);
  }
  for (const StatementFacts& facts : step.statements) {
    if (facts.statement == nullptr || body_of(*facts.statement) == nullptr) continue;
    std::optional<Bracket> bracket;
    for (std::size_t c = 0; c < timeline.columns.size(); ++c) {
      if (!is_inside(step, timeline.columns[c], facts.statement->id)) continue;
      const int column = static_cast<int>(c);
      if (!bracket) bracket = Bracket{facts.statement->id, column, column, facts.depth};
      bracket->last = column;
    }
    if (bracket) timeline.brackets.push_back(*bracket);
  }
  for (std::size_t b = 0; b < step.plan->nest.buffers.size(); ++b) {
    const auto touches = touches_of(step, timeline.columns, static_cast<int>(b));
    if (touches.empty()) continue;
    const int first = touches.begin()->first;
    const int end = end_of_life(step, timeline.columns, first, touches.rbegin()->first);
    BufferState moving = BufferState::idle;  // what it does between statements: a transfer goes on until its wait
    for (int column = first; column <= end; ++column) {
      BufferState state = moving;
      if (const auto touch = touches.find(column); touch != touches.end()) {
        state = touch->second;
        const Stmt& statement = *step.find(timeline.columns[static_cast<std::size_t>(column)])->statement;
        moving = std::holds_alternative<Dma>(statement.node) ? state : BufferState::idle;
      }
      BufferSpan* before = timeline.spans.empty() ? nullptr : &timeline.spans.back();
      if (before != nullptr && before->buffer == static_cast<int>(b) && before->state == state) {
        before->last = column;
      } else {
        timeline.spans.push_back({static_cast<int>(b), column, column, state});
      }
    }
  }
  return timeline;
}

}  // namespace stowage::inspector
