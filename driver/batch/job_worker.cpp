// SPDX-License-Identifier: Apache-2.0
// The process of jobs.
#include <algorithm>
#include <fstream>
#include <map>

#include <sys/resource.h>

#include "driver/batch/identity.h"
#include "driver/batch/job_messages.h"
#include "driver/batch/job_process.h"
#include "driver/batch/job_run.h"

namespace stowage {

namespace {

/// Of data, heap and stacks, as the kernel counts them; programs that are started have the same limit. Address space
/// that is only reserved does not count.
void limit_memory(std::int64_t bytes) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these reserve terabytes as data
  rlimit bounds{};
  ::getrlimit(RLIMIT_DATA, &bounds);
  bounds.rlim_cur = std::min(bounds.rlim_max, static_cast<rlim_t>(bytes));
  ::setrlimit(RLIMIT_DATA, &bounds);
#else
  static_cast<void>(bytes);
#endif
}

/// Where the kernel's memory runs out it ends this process rather than the batch.
void offer_to_be_killed() { std::ofstream("/proc/self/oom_score_adj") << 500; }

class JobWorker {
 public:
  JobWorker(LineSocket& lines, WorkerSetup setup) : lines_(&lines), setup_(std::move(setup)) {
    Diagnostics ignored;  // the batch has read the same text
    auto jobs = parse_jobs(setup_.text, setup_.file, ignored);
    if (!jobs) return;
    for (Job& job : *jobs) {
      std::string name = job.name;
      jobs_.emplace(std::move(name), std::move(job));
    }
  }

  JobResult run(const JobOrder& order, const std::stop_token& stop) const {
    const auto found = jobs_.find(order.job);
    if (found == jobs_.end() || keys_hash(found->second) != order.keys) return changed(order.job);
    const NetworkStep network = [&](const Job& job, Diagnostics& diagnostics, const std::stop_token& token) {
      const std::filesystem::path& folder = setup_.conditions.folder;
      if (!order.network) return Result<std::string>(network_path(job, folder).string());
      auto path = write_job_network(job, folder, *order.network, diagnostics, token);
      if (path) static_cast<void>(lines_->send(network_line));  // who does not hear it will hear no result either
      return path;
    };
    return run_job(found->second, setup_.conditions, order.replace, network, stop);
  }

 private:
  [[nodiscard]] JobResult changed(const std::string& name) const {
    Job job;
    job.name = name;
    SourceLocation location;
    location.file = setup_.file;
    Diagnostics diagnostics;
    diagnostics.error("batch-changed", location,
                      "a file that the batch includes was changed while it ran, and has no such job any more",
                      "run the batch again");
    return result_without_run(job, JobState::failed, std::move(diagnostics), setup_.conditions.folder);
  }

  LineSocket* lines_;
  WorkerSetup setup_;
  std::map<std::string, Job> jobs_;
};

}  // namespace

bool serve_jobs(int descriptor, const std::stop_token& stop) {
  LineSocket lines(descriptor);
  const auto first = lines.receive(stop);
  if (!first) return stop.stop_requested();
  offer_to_be_killed();
  WorkerSetup setup = setup_of(*first);
  const auto memory = setup.conditions.memory_bytes;
  const JobWorker worker(lines, std::move(setup));
  if (memory) limit_memory(*memory);
  if (!lines.send(ready_line)) return true;
  while (const auto line = lines.receive(stop)) {
    if (!lines.send(to_line(worker.run(order_of(*line), stop)))) break;
  }
  return true;
}

}  // namespace stowage
