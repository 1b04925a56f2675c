// SPDX-License-Identifier: Apache-2.0
// Timelines of steps as a file in Chrome's trace event format, which Perfetto (ui.perfetto.dev) and chrome://tracing
// open. Steps follow each other in time; times in the file are microseconds, to the nanosecond.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "driver/backend/step_timeline.h"

namespace stowage {

class TraceEvents {
 public:
  /// `origin` says what reproduces the file.
  TraceEvents(double clock_hz, const std::string& origin);

  /// Adds a step behind those before.
  void add(const std::string& name, const StepTimeline& step);

  /// The text of the file, once.
  [[nodiscard]] std::string finished();
  /// Slices so far, the one of each step included.
  [[nodiscard]] std::int64_t slices() const { return slices_; }

 private:
  /// Microseconds with three digits, of a cycle of the step that is being added.
  [[nodiscard]] std::string time_of(std::int64_t cycle) const;
  [[nodiscard]] std::int64_t nanoseconds_of(std::int64_t cycle) const;
  int process(const std::string& name);
  void name_tracks(const StepTimeline& step);
  void add_slice(int process, int thread, const std::string& name, const std::string& category,
                 std::optional<StatementId> statement, std::int64_t from, std::int64_t to);
  void begin_event();

  double clock_hz_ = 1;
  std::int64_t start_ = 0;  ///< cycle in which the step begins that is added next
  std::string text_;
  std::map<std::string, int> processes_;
  std::map<std::pair<int, int>, bool> named_;  ///< tracks by process and thread
  std::int64_t slices_ = 0;
  std::int64_t flows_ = 0;
};

}  // namespace stowage
