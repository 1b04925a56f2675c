// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/batch_baseline.h"

#include <algorithm>

#include "driver/batch/journal.h"
#include "driver/batch/junit.h"
#include "driver/batch/results.h"
#include "driver/batch/stored_result.h"
#include "driver/files/files.h"

namespace stowage {

namespace {

namespace fs = std::filesystem;

bool has_place(const std::string& junit, const fs::path& folder, const std::vector<Job>& jobs,
               Diagnostics& diagnostics) {
  if (is_device(junit)) return true;
  SourceLocation location;
  location.file = junit;
  std::error_code failure;
  const fs::path top = fs::weakly_canonical(fs::absolute(folder, failure), failure);
  const fs::path wanted = fs::weakly_canonical(fs::absolute(junit, failure), failure);
  const fs::path inside = wanted.lexically_relative(top);
  if (!inside.empty() && *inside.begin() != "..") {
    const std::string first = inside.begin()->string();
    const bool is_job = std::any_of(jobs.begin(), jobs.end(), [&](const Job& job) { return job.name == first; });
    constexpr std::string_view own[] = {".",          "networks",     results_name, summary_csv_name, summary_page_name,
                                        journal_name, shard_note_name};
    if (is_job || std::find(std::begin(own), std::end(own), first) != std::end(own)) {
      diagnostics.error("output-in-use", location, "the batch writes there itself", "choose another place");
      return false;
    }
    if (!inside.has_parent_path()) return true;
  }
  if (fs::is_directory(wanted.parent_path(), failure)) return true;
  diagnostics.error("file-error", location, "there is no folder " + wanted.parent_path().string(),
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

std::optional<Comparison> comparison_with(const std::optional<Baseline>& baseline, const BatchOutcome& outcome,
                                          const std::vector<std::string>& names, double tolerance,
                                          const PlanFolder& plan_folder, int threads, const ToolContext& context,
                                          Diagnostics& diagnostics) {
  if (!baseline) return std::nullopt;
  const std::string file = (outcome.folder / results_name).string();
  // One by one: all lines together take more room than their rows.
  ResultReader reader(file, diagnostics);
  results_lines(view_of(outcome), [&](std::string_view line) { reader.take(line.substr(0, line.size() - 1)); });
  const auto rows = std::move(reader).rows();
  if (!rows) return std::nullopt;
  Comparison comparison = compared(*baseline, *rows, names, tolerance);
  add_plan_verdicts(comparison, plan_folder, threads, context.backends, context.interrupt.token());
  return comparison;
}

bool may_write_junit(const std::string& junit, bool replace, const fs::path& folder, const std::vector<Job>& jobs,
                     std::span<const fs::path> inputs, Diagnostics& diagnostics) {
  return junit.empty() ||
         (may_write_file(junit, replace, inputs, diagnostics) && has_place(junit, folder, jobs, diagnostics));
}

std::string junit_text(const BatchOutcome& outcome) {
  std::vector<JobResult> results(outcome.jobs.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].name = outcome.jobs[i].name;
    if (const std::string line = outcome.line(i); !line.empty()) results[i] = result_of(line).result;
  }
  return junit_xml(fs::path(outcome.file).stem().string(), results,
                   outcome.comparison ? &*outcome.comparison : nullptr);
}

/// Beside a baseline a job that failed there too is no failure: whoever compares knows of it, and waits for others.
int batch_exit_code(const std::vector<JobEnd>& results, const std::optional<Comparison>& comparison, bool is_stopped) {
  const auto any = [&](JobState state) {
    return std::any_of(results.begin(), results.end(), [&](const JobEnd& r) { return r.state == state; });
  };
  if (any(JobState::fault)) return exit_fault;
  if (is_stopped) return exit_interrupted;
  if (comparison && has_regressed(*comparison)) return exit_regressed;
  const bool has_failed = comparison ? has_new_failure(*comparison) : any(JobState::failed);
  return has_failed ? exit_failed : exit_done;
}

}  // namespace stowage
