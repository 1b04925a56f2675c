// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/batch.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/out_of_memory.h"
#include "core/overloaded.h"
#include "driver/json/json.h"
#include "driver/networks/networks.h"
#include "driver/run/check_run.h"
#include "driver/run/inputs.h"
#include "driver/store/fusion_file.h"
#include "driver/store/plan_file.h"
#include "driver/text/text_table.h"

namespace stowage {

namespace {

namespace fs = std::filesystem;

/// Sample networks that jobs ask for, each written once.
class NetworkFiles {
 public:
  explicit NetworkFiles(const BatchOptions& options) : options_(options) {}

  Result<std::string> path_of(const Job& job, Diagnostics& diagnostics, std::stop_token stop) {
    const std::lock_guard lock(mutex_);
    const fs::path path = network_path(job, options_.folder);
    if (written_.contains(path)) return path.string();
    std::error_code ignored;  // a folder that cannot be made shows when the file is written
    fs::create_directories(path.parent_path(), ignored);
    NetworkOptions options;
    options.batch = job.network_batch;
    options.seed = static_cast<std::uint64_t>(job.network_seed);
    const bool replace = options_.force || options_.own_networks.contains(path);
    auto result = write_network(job.network, options, path.string(), diagnostics, stop,
                                replace ? Existing::replace : Existing::keep);
    if (result) written_.insert(path);
    return result;
  }

 private:
  std::mutex mutex_;
  const BatchOptions& options_;
  std::set<fs::path> written_;
};

Json check_json(const CheckResult& check) {
  double largest = 0;
  std::int64_t nans = 0;
  for (const ValueError& error : check.groups) {
    largest = std::max(largest, error.scaled());
    nans += error.nans;
  }
  Json json;
  json["agrees"] = check.agrees();
  json["against_model"] = check.against_model;
  json["compared"] = check.groups.size();
  json["largest_scaled_error"] = largest;
  json["nans"] = nans;
  json["amplified"] = check.amplified_operators();
  json["count_differences"] = check.counts.size();
  if (const ValueError* first = check.first_difference()) json["first_difference"] = first->name;
  return json;
}

/// Compiles, writes and checks one job. True if all went well; `json` and `result` are filled on the way.
bool run_steps(const Job& job, const BatchOptions& options, bool replace, NetworkFiles& networks, JobResult& result,
               Json& json, std::stop_token stop) {
  CompileRequest request = job.request;
  request.command_line = fmt::format("{} --only {}", options.command_line, job.name);
  // Jobs side by side share the host's cores.
  const int share = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / std::max(1, options.jobs));
  request.costs = {static_cast<unsigned>(share), options.cost_cache};
  if (!job.network.empty()) {
    const auto path = networks.path_of(job, result.diagnostics, stop);
    if (!path) return false;
    request.model = *path;
    // From the job's folder on, so that the plan's bytes do not say where the batch writes.
    request.recorded_model = (fs::path("..") / network_path(job, "")).generic_string();
  }
  const auto compilation = compile(request, result.diagnostics, stop);
  if (!compilation) return false;
  result.totals = totals_of(compilation->program);
  json["model_hash"] = compilation->model.hash;
  json.update(totals_json(compilation->program));
  if (compilation->fusion.search) json["search"] = search_json(compilation->fusion);
  if (!write_compilation(*compilation, options.folder / job.name, replace, result.diagnostics, stop)) {
    return false;
  }
  if (!job.check) {
    result.summary = "compiled";
    return true;
  }
  const auto inputs = network_inputs(compilation->program.fused.graph, {}, 0, result.diagnostics);
  if (!inputs) return false;
  EmulationOptions emulation;
  emulation.workers = share;
  const auto check = run_and_check(*compilation, inputs->values, emulation, result.diagnostics, stop);
  if (!check) return false;
  json["check"] = check_json(*check);
  if (check->agrees()) {
    const std::size_t amplified = check->amplified_operators();
    result.summary = amplified == 0 ? fmt::format("{} fused operators agree", check->fused_operators)
                                    : fmt::format("{} fused operators agree, {} amplify what earlier ones differ by",
                                                  check->fused_operators - amplified, amplified);
  } else if (const ValueError* first = check->first_difference()) {
    result.summary = fmt::format("'{}' differs from the reference", first->name);
  } else {
    result.summary = fmt::format("{} predicted counts differ", check->counts.size());
  }
  return check->agrees();
}

/// The values by their keys.
Json swept_json(const Job& job) {
  Json json = Json::object();
  for (const SweptValue& swept : job.swept) {
    json[swept.key] = std::visit(
        Overloaded{[](const TomlValue::Array&) { return Json(); }, [](const TomlValue::Table&) { return Json(); },
                   [](const auto& value) { return Json(value); }},
        swept.value.is);
  }
  return json;
}

/// What is wrong with a file that the batch writes is told from the batch's folder on, so that results do not say where
/// it is.
Diagnostics told_inside(const Diagnostics& diagnostics, const Job& job, const fs::path& folder) {
  Diagnostics told;
  for (Diagnostic diagnostic : diagnostics.entries()) {
    for (const fs::path& own : {network_path(job, ""), fs::path(job.name)}) {
      if (diagnostic.place.file == (folder / own).string()) diagnostic.place.file = own.string();
    }
    told.add(std::move(diagnostic));
  }
  return told;
}

JobResult run_job(const Job& job, const BatchOptions& options, bool replace, NetworkFiles& networks,
                  std::stop_token stop) {
  JobResult result;
  result.name = job.name;
  Json json;
  json["job"] = job.name;
  json["status"] = "";
  json["stowage"] = stowage_version();
  json["network"] = source_of(job);
  json["target"] = job.request.target;
  json["fusion"] = job.request.fusion;
  json["planner"] = job.request.planner;
  json["cost"] = job.request.cost;
  if (!job.swept.empty()) json["sweep"] = swept_json(job);
  try {
    const bool good = run_steps(job, options, replace, networks, result, json, stop);
    result.state = good ? JobState::done : stop.stop_requested() ? JobState::interrupted : JobState::failed;
  } catch (const std::exception& fault) {
    SourceLocation place;
    place.file = source_of(job);
    const bool no_memory = report_out_of_memory(fault, place, result.diagnostics);
    result.state = no_memory ? JobState::failed : JobState::fault;
    if (!no_memory) result.diagnostics.error("internal-error", place, fault.what(), "please report this");
  }
  if (result.summary.empty()) {
    for (const Diagnostic& diagnostic : result.diagnostics.entries()) {
      if (diagnostic.severity == Severity::error && result.summary.empty()) result.summary = diagnostic.message;
    }
  }
  json["status"] = name_of(result.state);
  json["summary"] = result.summary;
  if (!result.diagnostics.entries().empty()) {
    json["diagnostics"] = to_json(told_inside(result.diagnostics, job, options.folder));
  }
  result.json = dumped(json);
  result.json.pop_back();  // its line break
  return result;
}

}  // namespace

const std::string& source_of(const Job& job) { return job.network.empty() ? job.request.model : job.network; }

fs::path network_path(const Job& job, const fs::path& folder) {
  const std::string name = fmt::format("{}-batch{}-seed{}.onnx", job.network, job.network_batch, job.network_seed);
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

std::vector<JobResult> run_batch(const std::vector<Job>& jobs, const BatchOptions& options,
                                 const std::function<void(const JobResult&)>& on_done, std::stop_token stop) {
  std::vector<JobResult> results(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!options.starts.empty() && options.starts[i].kept) results[i] = *options.starts[i].kept;
    results[i].name = jobs[i].name;
  }
  NetworkFiles networks(options);
  std::atomic<std::size_t> next = 0;
  std::mutex done;
  const auto work = [&] {
    for (std::size_t i = 0; (i = next++) < jobs.size() && !stop.stop_requested();) {
      const bool is_known = !options.starts.empty();
      if (is_known && options.starts[i].kept) continue;
      const bool replace = options.force || (is_known && options.starts[i].replace);
      results[i] = run_job(jobs[i], options, replace, networks, stop);
      const std::lock_guard lock(done);
      if (on_done) on_done(results[i]);
    }
  };
  {
    std::vector<std::jthread> workers;
    const auto count = std::min<std::size_t>(jobs.size(), static_cast<std::size_t>(std::max(1, options.jobs)));
    for (std::size_t i = 1; i < count; ++i) workers.emplace_back(work);
    work();
  }
  return results;
}

std::string jobs_table(const std::vector<Job>& jobs) {
  TextTable table({"job", "network", "target", "fusion", "planner", "settings"});
  for (const Job& job : jobs) {
    table.add({job.name, source_of(job), job.request.target, job.request.fusion, job.request.planner,
               fmt::format("{}", fmt::join(job.request.settings, ", "))});
  }
  return table.text();
}

std::string jobs_json(const std::vector<Job>& jobs) {
  Json rows = Json::array();
  for (const Job& job : jobs) {
    Json json;
    json["job"] = job.name;
    json["network"] = source_of(job);
    json["target"] = job.request.target;
    json["fusion"] = job.request.fusion;
    json["planner"] = job.request.planner;
    json["cost"] = job.request.cost;
    json["settings"] = job.request.settings;
    if (!job.swept.empty()) json["sweep"] = swept_json(job);
    rows.push_back(std::move(json));
  }
  return dumped(rows);
}

}  // namespace stowage
