// SPDX-License-Identifier: Apache-2.0
// How a fused operator's plan came about, step by step: the records of the trace with everything as it stood then.
// Plain values, made without a window; the replay pane and lectures show them.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/trace.h"
#include "driver/report/plan_decisions.h"
#include "inspector/state/loaded_plan.h"

namespace stowage::inspector {

struct ReplayVariable {
  std::string name;
  std::string value;
  bool changed = false;  ///< by this step
};

/// An LDM buffer at the sizes of this step.
struct ReplayBuffer {
  std::string tensor;
  std::string extents;     ///< "64 × 128"
  std::int64_t bytes = 0;  ///< of its elements
  std::int64_t taken = 0;  ///< what it takes of the LDM: rounded up to the alignment; 0 inside of another
  ModelBuffer::Kind kind = ModelBuffer::Kind::input;
  std::string inside;  ///< tensor whose buffer it overwrites in place; empty: it has an address of its own
  bool changed = false;
};

/// A line of the loop nest at this step.
struct ReplayLine {
  enum class Kind : std::uint8_t { loop, open_loop, get, put, init, compute, plain } kind = Kind::plain;
  int depth = 0;
  std::string text;
  std::string note;  ///< to the right: how often a transfer runs, that a place is open
  bool changed = false;
};

/// Sentences under a heading.
struct ReplayRemarks {
  std::string heading;
  std::vector<std::string> texts;
};

struct ReplayStep {
  std::string algorithm;  ///< an AlgorithmText
  std::string mark;       ///< which of its lines are lit
  TraceOutcome outcome = TraceOutcome::step;
  bool outbid = false;   ///< possible, and others cost less
  bool is_text = false;  ///< of a plan from an earlier version: there is nothing to draw
  std::string message;   ///< one sentence: which rule fired, with its numbers
  std::string why;       ///< one more, for people who do not know the paper; may be empty
  std::vector<ReplayVariable> variables;
  IdVector<BufferId, ReplayBuffer> buffers;  ///< none before the sizes are known
  std::int64_t ldm_bytes = 0;                ///< taken by all buffers
  std::vector<ReplayLine> nest;
  std::vector<LoopRound> rounds;       ///< of algorithm 2: what it compares, as far as counted
  std::vector<ReplayRemarks> remarks;  ///< what decided, with this operator's numbers
  [[nodiscard]] bool decision() const { return outcome != TraceOutcome::step || outbid; }
};

struct Replay {
  std::string subject;        ///< fused operator
  std::string formula;        ///< what it computes, a line a stage
  std::int64_t capacity = 0;  ///< LDM bytes that buffers share; 0 without a loop nest
  int alignment = 1;          ///< of every buffer, bytes
  std::vector<ReplayStep> steps;
  [[nodiscard]] std::int64_t max_bytes() const;
  /// What a bar of the LDM shows at most: attempts far beyond the capacity would make all else small.
  [[nodiscard]] std::int64_t shown_bytes() const;
};

/// Whether the plan keeps the planner's records of this fused operator; otherwise make_replay plans it once more, which
/// is work for another thread.
bool keeps_steps(const LoadedPlan& plan, std::optional<StepId> step);
/// Empty for the network. Of a view the matching only. Where an earlier version wrote the plan, its steps are text.
Replay make_replay(const LoadedPlan& plan, std::optional<StepId> step);

}  // namespace stowage::inspector
