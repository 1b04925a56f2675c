// SPDX-License-Identifier: Apache-2.0
// How a fused operator's plan came about, step by step: the records of the trace with everything as it stood then.
// Plain values, made without a window; the replay pane and lectures show them.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

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
  std::string extents;  ///< "64 × 128"
  std::int64_t bytes = 0;
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

struct ReplayStep {
  std::string algorithm;  ///< an AlgorithmText
  std::string mark;       ///< which of its lines are lit
  TraceOutcome outcome = TraceOutcome::step;
  std::string message;  ///< one sentence: which rule fired, with its numbers
  std::string why;      ///< one more, for people who do not know the paper; may be empty
  std::vector<ReplayVariable> variables;
  std::vector<ReplayBuffer> buffers;  ///< none before the sizes are known
  std::int64_t ldm_bytes = 0;         ///< of all buffers
  std::vector<ReplayLine> nest;
  [[nodiscard]] bool decision() const { return outcome != TraceOutcome::step; }
};

struct Replay {
  std::string subject;        ///< fused operator
  std::string formula;        ///< what it computes, a line a stage
  std::int64_t capacity = 0;  ///< LDM bytes that buffers share
  std::vector<ReplayStep> steps;
  [[nodiscard]] std::int64_t most_bytes() const;
};

/// Whether the plan keeps the planner's records of this fused operator; otherwise make_replay plans it once more, which
/// is work for another thread.
bool keeps_steps(const LoadedPlan& plan, int step);
/// Empty for the network. Of a view the matching only.
Replay make_replay(const LoadedPlan& plan, int step);

}  // namespace stowage::inspector
