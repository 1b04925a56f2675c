// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/batch.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/parallel.h"
#include "driver/batch/job_process.h"
#include "driver/batch/job_run.h"
#include "driver/batch/network_files.h"
#include "driver/json/json.h"
#include "driver/text/text_table.h"

namespace stowage {

namespace {

namespace fs = std::filesystem;

/// Runs jobs in this process.
class OwnProcess : public JobRunner {
 public:
  OwnProcess(const BatchOptions& options, NetworkFiles& networks) : options_(options), networks_(networks) {}

  JobResult run(const Job& job, bool replace, const std::stop_token& stop) override {
    const NetworkStep network = [&](const Job& of, Diagnostics& diagnostics, const std::stop_token& token) {
      NetworkFiles::Claim claim = networks_.claim(of);
      if (!claim.existing()) return Result<std::string>(network_path(of, options_.folder).string());
      auto path = write_job_network(of, options_.folder, *claim.existing(), diagnostics, token);
      if (path) claim.written();
      return path;
    };
    return run_job(job, options_, replace, network, stop);
  }

 private:
  const BatchOptions& options_;
  NetworkFiles& networks_;
};

std::unique_ptr<JobRunner> runner_of(const BatchOptions& options, NetworkFiles& networks) {
  if (options.program.empty()) return std::make_unique<OwnProcess>(options, networks);
  return std::make_unique<JobProcess>(options, networks);
}

}  // namespace

const std::string& source_of(const Job& job) {
  return job.keys->network.empty() ? job.keys->request.model : job.keys->network;
}

CompileRequest request_of(const Job& job) {
  CompileRequest request = job.keys->request;
  for (const SweptValue& swept : job.swept.values()) {
    if (swept.key.starts_with("target.")) request.settings.push_back(fmt::format("{}={}", swept.key, swept.toml));
  }
  return request;
}

fs::path network_path(const Job& job, const fs::path& folder) {
  const std::string name =
      fmt::format("{}-batch{}-seed{}.onnx", job.keys->network, job.keys->network_batch, job.keys->network_seed);
  return folder / "networks" / name;
}

std::string_view name_of(JobState state) {
  switch (state) {
    case JobState::done: return "done";
    case JobState::failed: return "failed";
    case JobState::fault: return "fault";
    case JobState::interrupted: return "interrupted";
  }
  fail_check("unknown job state");
}

std::vector<JobEnd> run_batch(const std::vector<Job>& jobs, const BatchOptions& options, std::vector<JobEnd> kept,
                              const std::function<void(const JobResult&)>& on_done, std::stop_token stop) {
  std::vector<JobEnd> ends = std::move(kept);
  ends.resize(jobs.size());
  NetworkFiles networks(options.folder, options.force, options.own_networks);
  std::atomic<std::size_t> next = 0;
  std::mutex done;
  const auto work = [&] {
    std::unique_ptr<JobRunner> runner;
    for (std::size_t i = 0; (i = next++) < jobs.size() && !stop.stop_requested();) {
      const bool is_known = !options.starts.empty();
      if (is_known && options.starts[i].kept) continue;
      const bool replace = options.force || (is_known && options.starts[i].replace);
      if (!runner) runner = runner_of(options, networks);
      const JobResult result = runner->run(jobs[i], replace, stop);
      ends[i] = result;
      const std::lock_guard lock(done);
      if (on_done) on_done(result);
    }
  };
  run_on_threads(std::min(jobs.size(), static_cast<std::size_t>(std::max(1, options.jobs))), work);
  return ends;
}

std::string jobs_table(const std::vector<Job>& jobs) {
  TextTable table({"job", "network", "target", "fusion", "planner", "settings"});
  for (const Job& job : jobs) {
    table.add({job.name, source_of(job), job.keys->request.target, job.keys->request.fusion, job.keys->request.planner,
               fmt::format("{}", fmt::join(request_of(job).settings, ", "))});
  }
  return table.text();
}

std::string jobs_json(const std::vector<Job>& jobs) {
  Json rows = Json::array();
  for (const Job& job : jobs) {
    Json json;
    json["job"] = job.name;
    json["network"] = source_of(job);
    json["target"] = job.keys->request.target;
    json["fusion"] = job.keys->request.fusion;
    json["planner"] = job.keys->request.planner;
    json["layout"] = job.keys->request.layout;
    if (!job.keys->request.library.empty()) json["library"] = job.keys->request.library;
    json["cost"] = job.keys->request.cost;
    json["settings"] = request_of(job).settings;
    if (!job.swept.empty()) json["sweep"] = swept_json(job);
    rows.push_back(std::move(json));
  }
  return dumped(rows);
}

}  // namespace stowage
