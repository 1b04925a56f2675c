// SPDX-License-Identifier: Apache-2.0
// The lines that a batch and the processes of its jobs exchange (driver/batch/job_process.h). Both are the same
// program, so that a line that cannot be read is a fault: JSON's exceptions and Damage are thrown.
#pragma once

#include <optional>
#include <string>

#include "core/hidden_temporary.h"
#include "driver/batch/batch.h"

namespace stowage {

/// The first line.
struct WorkerSetup {
  JobConditions conditions;
  std::string file;  ///< of the batch
  std::string text;  ///< what stands in it
};
std::string to_line(const WorkerSetup& setup);
WorkerSetup setup_of(const std::string& line);

/// A job to be run.
struct JobOrder {
  std::string job;
  std::string keys;                 ///< hash of what the batch file says of it (keys_hash)
  std::optional<Existing> network;  ///< its sample network is written first; nothing: it is there, or there is none
  bool replace = false;
};
std::string to_line(const JobOrder& order);
JobOrder order_of(const std::string& line);

/// Answers that say no more than that something is done.
inline constexpr const char* ready_line = R"({"answer":"ready"})";
inline constexpr const char* network_line = R"({"answer":"network"})";

/// With all of its diagnostics, as they would be printed.
std::string to_line(const JobResult& result);
JobResult result_of_answer(const std::string& line);

}  // namespace stowage
