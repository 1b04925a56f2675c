// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/batch_baseline.h"

#include <algorithm>

#include "driver/batch/junit.h"
#include "driver/files/files.h"

namespace stowage {

namespace {

namespace fs = std::filesystem;

bool has_place(const BatchCommandOptions& options, const fs::path& folder, const std::vector<Job>& jobs,
               Diagnostics& diagnostics) {
  if (is_device(options.junit)) return true;
  SourceLocation place;
  place.file = options.junit;
  std::error_code failure;
  const fs::path top = fs::weakly_canonical(fs::absolute(folder, failure), failure);
  const fs::path wanted = fs::weakly_canonical(fs::absolute(options.junit, failure), failure);
  const fs::path inside = wanted.lexically_relative(top);
  if (!inside.empty() && *inside.begin() != "..") {
    const std::string first = inside.begin()->string();
    const bool is_job = std::any_of(jobs.begin(), jobs.end(), [&](const Job& job) { return job.name == first; });
    if (is_job || first == "." || first == "networks" || first == results_name || first == summary_csv_name ||
        first == summary_page_name) {
      diagnostics.error("output-in-use", place, "the batch writes there itself", "choose another place");
      return false;
    }
    if (!inside.has_parent_path()) return true;
  }
  if (fs::is_directory(wanted.parent_path(), failure)) return true;
  diagnostics.error("file-error", place, "there is no folder " + wanted.parent_path().string(),
                    "make it, or choose another place");
  return false;
}

}  // namespace

Result<std::optional<Baseline>> wanted_baseline(const BatchCommandOptions& options,
                                                const std::vector<std::string>& names, ToolContext& context,
                                                Diagnostics& diagnostics) {
  if (options.baseline.empty()) return std::optional<Baseline>();
  Diagnostics of_baseline;
  auto baseline = load_baseline(options.baseline, names, of_baseline);
  if (baseline) {
    print_warnings(context, of_baseline);
    return std::optional<Baseline>(std::move(*baseline));
  }
  diagnostics.append(of_baseline);
  return Failed{};
}

std::optional<Comparison> comparison_with(const std::optional<Baseline>& baseline,
                                          const std::vector<JobResult>& results, const std::vector<std::string>& names,
                                          const BatchOptions& batch, const BatchCommandOptions& options,
                                          const ToolContext& context, Diagnostics& diagnostics) {
  if (!baseline) return std::nullopt;
  std::string lines;
  for (const JobResult& result : results) {
    if (!result.json.empty()) lines += result.json + "\n";
  }
  const auto rows = parse_results(lines, (batch.folder / results_name).string(), diagnostics);
  if (!rows) return std::nullopt;
  Comparison comparison = compared(*baseline, *rows, names, options.tolerance);
  add_plan_verdicts(comparison, batch.folder, batch.jobs, context.backends, context.interrupt.token());
  return comparison;
}

bool may_write_junit(const BatchCommandOptions& options, const fs::path& folder, const std::vector<Job>& jobs,
                     std::span<const fs::path> inputs, Diagnostics& diagnostics) {
  return options.junit.empty() || (may_write_file(options.junit, options.force, inputs, diagnostics) &&
                                   has_place(options, folder, jobs, diagnostics));
}

bool write_junit(const BatchCommandOptions& options, const std::vector<JobResult>& results,
                 const Comparison* comparison, Diagnostics& diagnostics) {
  if (options.junit.empty()) return true;
  const std::string suite = fs::path(options.file).stem().string();
  return write_file_whole(options.junit, junit_xml(suite, results, comparison),
                          options.force ? Existing::replace : Existing::keep, diagnostics);
}

/// Beside a baseline a job that failed there too is no failure: whoever compares knows of it, and waits for others.
int batch_exit_code(const std::vector<JobResult>& results, const std::optional<Comparison>& comparison,
                    bool is_stopped) {
  const auto any = [&](JobState state) {
    return std::any_of(results.begin(), results.end(), [&](const JobResult& r) { return r.state == state; });
  };
  if (any(JobState::fault)) return exit_fault;
  if (is_stopped) return exit_interrupted;
  if (comparison && has_regressed(*comparison)) return exit_regressed;
  const bool has_failed = comparison ? has_new_failure(*comparison) : any(JobState::failed);
  return has_failed ? exit_failed : exit_done;
}

}  // namespace stowage
