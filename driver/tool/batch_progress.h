// SPDX-License-Identifier: Apache-2.0
// How far a batch is, for a person who waits at a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "driver/batch/batch.h"
#include "driver/tool/tool_context.h"

namespace stowage {

/// Of the jobs that are run, not those that stay as they are.
struct BatchPace {
  std::size_t jobs = 0;
  std::size_t ended = 0;
  std::size_t failed = 0;      ///< of those that ended
  double seconds = 0;          ///< so far
  std::int64_t work = 0;       ///< of all, as estimated_work() has it
  std::int64_t work_done = 0;  ///< of those that ended
};
/// "12 of 40 jobs, 1 failed, 1.3 jobs/s, 21 s left".
std::string pace_text(const BatchPace& pace);

/// Tells of each job that ends: what is to be known of it, and on a terminal a line that is kept up to date.
class BatchProgress {
 public:
  BatchProgress(const std::vector<Job>& jobs, const std::vector<JobStart>& starts, const ToolContext& context);
  BatchProgress(const BatchProgress&) = delete;
  BatchProgress& operator=(const BatchProgress&) = delete;
  ~BatchProgress();
  void ended(const JobResult& result);

 private:
  void draw();
  void wipe();

  const ToolContext* context_;
  BatchPace pace_;
  std::map<std::string, std::int64_t> work_;  ///< by job
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point drawn_;
  bool is_drawn_ = false;
};

}  // namespace stowage
