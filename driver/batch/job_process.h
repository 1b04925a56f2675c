// SPDX-License-Identifier: Apache-2.0
// Jobs in processes of their own: one that crashes, is killed or runs out of memory takes nothing along. A process runs
// one job after the other and is replaced when it died. Both sides speak lines of JSON:
//
//     to it    the conditions (JobConditions, the batch file's name and text); then for each job its name, the hash of
//              its keys, what to do about its network, and whether its folder is replaced
//     from it  "ready"; for each job "network" when that was written, and its result
#pragma once

#include <memory>
#include <stop_token>
#include <string_view>

#include "driver/batch/batch.h"
#include "driver/batch/network_files.h"
#include "emitter/process/worker_process.h"

namespace stowage {

/// What the program that runs jobs is called with (BatchOptions::program); people have no use for it.
inline constexpr std::string_view job_worker_command = "batch-worker";

/// Runs one job after the other.
class JobRunner {
 public:
  virtual ~JobRunner() = default;
  /// `replace`: what stands at the place of its plan is ours, and goes.
  virtual JobResult run(const Job& job, bool replace, const std::stop_token& stop) = 0;
};

/// In a process of its own, made when the first job comes. To be used by one thread, with which the process ends.
class JobProcess : public JobRunner {
 public:
  /// Both must outlive it.
  JobProcess(const BatchOptions& options, NetworkFiles& networks) : options_(&options), networks_(&networks) {}
  JobResult run(const Job& job, bool replace, const std::stop_token& stop) override;

 private:
  JobResult run_once(const Job& job, bool replace, const std::stop_token& stop);
  /// False where there is none; errno says why.
  bool start(const std::stop_token& stop);
  /// The result of a job that did not get one from the process, which is gone then.
  JobResult ended(const Job& job, const std::stop_token& stop);

  const BatchOptions* options_;
  NetworkFiles* networks_;
  std::unique_ptr<WorkerProcess> process_;
  bool is_used_ = false;      ///< it has run a job
  bool is_doubtful_ = false;  ///< the last job died or ran out of memory in it
};

/// The other side: runs jobs as they come on the socket `descriptor`, until it is closed or a stop is requested. False
/// where nobody speaks there as above.
bool serve_jobs(int descriptor, const std::stop_token& stop);

}  // namespace stowage
