// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/job_run.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "core/number_text.h"
#include "core/out_of_memory.h"
#include "core/overloaded.h"
#include "driver/json/json.h"
#include "driver/networks/networks.h"
#include "driver/run/check_run.h"
#include "driver/run/inputs.h"
#include "driver/session/compile_within.h"
#include "driver/store/fusion_file.h"
#include "driver/store/plan_file.h"

namespace stowage {

namespace {

namespace fs = std::filesystem;

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

Result<Compilation> compiled(const CompileRequest& request, std::optional<double> seconds, bool& is_cut_short,
                             Diagnostics& diagnostics, const std::stop_token& stop) {
  if (!seconds) return compile(request, diagnostics, stop);
  const SearchTime time{*seconds, fmt::format("{} --timeout {}", request.command_line, *seconds)};
  return compile_within(time, request, is_cut_short, diagnostics, stop);
}

/// Compiles, writes and checks one job. True if all went well; `json` and `result` are filled on the way.
bool run_steps(const Job& job, const JobConditions& conditions, bool replace, const NetworkStep& network,
               JobResult& result, Json& json, const std::stop_token& stop) {
  CompileRequest request = request_of(job);
  request.command_line = fmt::format("{} --only {}", conditions.command_line, job.name);
  // Jobs side by side share the host's cores.
  const int share = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / std::max(1, conditions.jobs));
  request.costs = {static_cast<unsigned>(share), conditions.cost_cache};
  if (!job.keys->network.empty()) {
    const auto path = network(job, result.diagnostics, stop);
    if (!path) return false;
    request.model = *path;
    // From the job's folder on, so that the plan's bytes do not say where the batch writes.
    request.recorded_model = (fs::path("..") / network_path(job, "")).generic_string();
  }
  bool is_cut_short = false;
  const auto compilation = compiled(request, conditions.search_seconds, is_cut_short, result.diagnostics, stop);
  if (is_cut_short) {
    result.out_of_time = conditions.search_seconds;
    json["out_of_time"] = *conditions.search_seconds;
  }
  if (!compilation) return false;
  const std::string_view late = is_cut_short ? ", out of time" : "";
  const ProgramTotals totals = totals_of(compilation->program);
  result.totals = JobTotals{totals.groups,         totals.kernels, totals.dma.transfers, totals.dma.bytes,
                            totals.ldm_peak_bytes, totals.cycles,  totals.seconds};
  json["model_hash"] = compilation->model.hash;
  json.update(totals_json(compilation->program));
  if (compilation->fusion.search) json["search"] = search_json(compilation->fusion);
  if (!write_compilation(*compilation, conditions.folder / job.name, replace, result.diagnostics, stop)) {
    return false;
  }
  if (!job.keys->check) {
    result.summary = fmt::format("compiled{}", late);
    return true;
  }
  const auto inputs = network_inputs(compilation->program.fused.graph, {}, 0, result.diagnostics);
  if (!inputs) return false;
  RunSettings settings;
  settings.workers = share;
  const auto check = run_and_check(*compilation, inputs->values, settings, result.diagnostics, stop);
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
  result.summary += late;
  return check->agrees();
}

/// What is wrong with a file that the batch writes is told from the batch's folder on, so that results do not say where
/// it is.
Diagnostics told_inside(const Diagnostics& diagnostics, const Job& job, const fs::path& folder) {
  Diagnostics told;
  for (Diagnostic diagnostic : diagnostics.entries()) {
    for (const fs::path& own : {network_path(job, ""), fs::path(job.name)}) {
      if (diagnostic.location.file == (folder / own).string()) diagnostic.location.file = own.string();
    }
    told.add(std::move(diagnostic));
  }
  return told;
}

/// What is known of a result before the job is run.
Json begun(const Job& job) {
  Json json;
  json["job"] = job.name;
  json["status"] = "";
  json["stowage"] = stowage_version();
  json["network"] = source_of(job);
  json["target"] = job.keys->request.target;
  json["fusion"] = job.keys->request.fusion;
  json["planner"] = job.keys->request.planner;
  json["layout"] = job.keys->request.layout;
  if (!job.keys->request.library.empty()) json["library"] = job.keys->request.library;
  json["cost"] = job.keys->request.cost;
  if (!job.swept.empty()) json["sweep"] = swept_json(job);
  return json;
}

/// Memory that ran out is what the job was given, and not the machine's.
Diagnostics told_with_limit(const Diagnostics& diagnostics, std::int64_t limit) {
  Diagnostics told;
  for (Diagnostic diagnostic : diagnostics.entries()) {
    if (diagnostic.code == "out-of-memory") {
      diagnostic.message = fmt::format("this needs more memory than the {} that a job may have", bytes_text(limit));
      diagnostic.remedy = "raise --memory-per-job and give --retry-failed, or use a smaller network, batch or --dim";
    }
    told.add(std::move(diagnostic));
  }
  return told;
}

void finish(JobResult& result, const Job& job, Json json, const fs::path& folder) {
  if (result.summary.empty()) {
    for (const Diagnostic& diagnostic : result.diagnostics.entries()) {
      if (diagnostic.severity == Severity::error && result.summary.empty()) result.summary = diagnostic.message;
    }
  }
  json["status"] = name_of(result.state);
  json["summary"] = result.summary;
  if (!result.diagnostics.entries().empty()) {
    json["diagnostics"] = to_json(told_inside(result.diagnostics, job, folder));
  }
  result.json = dumped(json);
  result.json.pop_back();  // its line break
}

}  // namespace

Json swept_json(const Job& job) {
  Json json = Json::object();
  for (const SweptValue& swept : job.swept.values()) {
    json[swept.key] = std::visit(
        Overloaded{[](const TomlValue::Array&) { return Json(); }, [](const TomlValue::Table&) { return Json(); },
                   [](const auto& value) { return Json(value); }},
        swept.value.is);
  }
  return json;
}

JobResult run_job(const Job& job, const JobConditions& conditions, bool replace, const NetworkStep& network,
                  const std::stop_token& stop) {
  JobResult result;
  result.name = job.name;
  Json json = begun(job);
  try {
    const bool good = run_steps(job, conditions, replace, network, result, json, stop);
    result.state = good ? JobState::done : stop.stop_requested() ? JobState::interrupted : JobState::failed;
  } catch (const std::exception& fault) {
    SourceLocation location;
    location.file = source_of(job);
    const bool no_memory = report_out_of_memory(fault, location, result.diagnostics);
    result.state = no_memory ? JobState::failed : JobState::fault;
    if (!no_memory) result.diagnostics.error("internal-error", location, fault.what(), "please report this");
  }
  if (conditions.memory_bytes) result.diagnostics = told_with_limit(result.diagnostics, *conditions.memory_bytes);
  finish(result, job, std::move(json), conditions.folder);
  return result;
}

JobResult result_without_run(const Job& job, JobState state, Diagnostics diagnostics, const fs::path& folder) {
  JobResult result;
  result.name = job.name;
  result.state = state;
  result.diagnostics = std::move(diagnostics);
  finish(result, job, begun(job), folder);
  return result;
}

Result<std::string> write_job_network(const Job& job, const fs::path& folder, Existing existing,
                                      Diagnostics& diagnostics, const std::stop_token& stop) {
  const fs::path path = network_path(job, folder);
  std::error_code ignored;  // a folder that cannot be made shows when the file is written
  fs::create_directories(path.parent_path(), ignored);
  NetworkOptions options;
  options.batch = job.keys->network_batch;
  options.seed = static_cast<std::uint64_t>(job.keys->network_seed);
  return write_network(job.keys->network, options, path.string(), diagnostics, stop, existing);
}

}  // namespace stowage
