// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/batch_command.h"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <set>

#include <fmt/format.h>

#include "core/number_text.h"
#include "driver/batch/batch.h"
#include "driver/batch/results.h"
#include "driver/files/files.h"
#include "driver/json/json.h"
#include "driver/tool/batch_baseline.h"
#include "driver/tool/commands.h"

namespace stowage {

namespace {

namespace fs = std::filesystem;

/// The jobs that --only asks for; all without it. `names` become those of all that the file has.
Result<std::vector<Job>> wanted_jobs(const BatchCommandOptions& options, const Backends& backends,
                                     std::vector<std::string>& names, Diagnostics& diagnostics) {
  auto jobs = load_jobs(options.file, diagnostics, backends);
  if (!jobs) return jobs;
  for (const Job& job : *jobs) names.push_back(job.name);
  if (options.only.empty()) return jobs;
  for (const Job& job : *jobs) {
    if (job.name == options.only) return std::vector<Job>{job};
  }
  SourceLocation place;
  place.file = options.file;
  diagnostics.error("unknown-job", place, fmt::format("no job '{}'", options.only), suggest_name(options.only, names));
  return Failed{};
}

/// What may not be replaced is said before any work.
bool check_free(const fs::path& folder, const std::vector<Job>& jobs, const std::optional<Baseline>& baseline,
                const BatchCommandOptions& options, Diagnostics& diagnostics) {
  std::vector<fs::path> inputs = {options.file};
  if (baseline) inputs.emplace_back(baseline->file);
  for (const Job& job : jobs) {
    for (fs::path& file : files_read(job.request)) inputs.push_back(std::move(file));
  }
  for (const std::string_view name : {results_name, summary_csv_name, summary_page_name}) {
    may_write_file(folder / name, options.force, inputs, diagnostics);
  }
  may_write_junit(options, folder, jobs, inputs, diagnostics);
  std::set<fs::path> networks;
  for (const Job& job : jobs) {
    if (!job.network.empty()) networks.insert(network_path(job, folder));
  }
  for (const fs::path& network : networks) may_write_file(network, options.force, inputs, diagnostics);
  for (const Job& job : jobs) {
    may_write_folder(folder / job.name, FolderContent::plan, options.force, inputs, diagnostics);
  }
  return !diagnostics.has_errors();
}

}  // namespace

int batch_command(const BatchCommandOptions& options, ToolContext& context) {
  Diagnostics diagnostics;
  std::vector<std::string> names;
  const auto jobs = wanted_jobs(options, context.backends, names, diagnostics);
  if (!jobs) return failed(context, diagnostics);
  if (options.dry_run) {
    context.out << (context.json ? jobs_json(*jobs) : jobs_table(*jobs) + "\n" + counted(jobs->size(), "job") + "\n");
    return exit_done;
  }
  const auto baseline = wanted_baseline(options, names, context, diagnostics);
  if (!baseline) return failed(context, diagnostics);
  BatchOptions batch;
  batch.folder = options.output.empty() ? fs::path(options.file).stem().string() + "-out" : options.output;
  batch.force = options.force;
  batch.jobs = options.jobs;
  Diagnostics of_cache;
  batch.cost_cache = cost_cache_of(options.cost_cache, of_cache);
  print_warnings(context, of_cache);
  batch.command_line = "stowage batch " + shell_quoted(options.file);
  if (!check_free(batch.folder, *jobs, *baseline, options, diagnostics)) return failed(context, diagnostics);
  std::error_code failure;
  fs::create_directories(batch.folder, failure);
  if (failure) {
    SourceLocation place;
    place.file = batch.folder.string();
    diagnostics.error("file-error", place, "the output folder cannot be made: " + failure.message());
    return failed(context, diagnostics);
  }

  std::size_t done = 0;
  const auto on_done = [&](const JobResult& result) {
    if (context.terminal != nullptr) {
      context.err << fmt::format("[{}/{}] {}: {}\n", ++done, jobs->size(), result.name, name_of(result.state));
    }
    print_warnings(context, result.diagnostics);
    context.err << std::flush;
  };
  const std::stop_token stop = context.interrupt.token();
  const std::vector<JobResult> results = run_batch(*jobs, batch, on_done, stop);

  std::string lines;
  for (const JobResult& result : results) {
    if (!result.json.empty()) lines += result.json + "\n";
  }
  const auto comparison = comparison_with(*baseline, results, names, batch, options, context, diagnostics);
  {
    const Interrupt::Hold hold = context.interrupt.hold();
    const Comparison* const beside = comparison ? &*comparison : nullptr;
    const Existing existing = options.force ? Existing::replace : Existing::keep;
    const bool written =
        write_file_whole(batch.folder / results_name, lines, existing, diagnostics) &&
        write_file_whole(batch.folder / summary_csv_name, results_csv(*jobs, results, beside), existing, diagnostics) &&
        write_file_whole(batch.folder / summary_page_name, results_page(*jobs, results, batch.command_line, beside),
                         existing, diagnostics) &&
        write_junit(options, results, beside, diagnostics);
    if (!written || diagnostics.has_errors()) return failed(context, diagnostics);
  }
  if (context.json) {
    std::string joined;
    for (const JobResult& result : results) {
      if (!result.json.empty()) joined += (joined.empty() ? "\n " : ",\n ") + result.json;
    }
    const std::string of_baseline = comparison ? ",\n\"baseline\": " + dumped(to_json(*comparison), 1) : "";
    context.out << fmt::format("{{\"jobs\": [{}\n]{}}}\n", joined, of_baseline);
  } else {
    context.out << fmt::format("stowage {} | {}\n\n", stowage_version(), batch.command_line)
                << results_text(*jobs, results)
                << fmt::format("\nresults in {}\n", (batch.folder / results_name).string());
    if (comparison) context.out << "\n" << comparison_text(*comparison);
  }
  return batch_exit_code(results, comparison, stop.stop_requested());
}

}  // namespace stowage
