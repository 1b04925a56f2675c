// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/batch_command.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>
#include <set>
#include <span>

#include <fmt/format.h>

#include "core/number_text.h"
#include "driver/batch/batch.h"
#include "driver/batch/identity.h"
#include "driver/batch/journal.h"
#include "driver/batch/results.h"
#include "driver/batch/resume.h"
#include "driver/batch/shard.h"
#include "driver/files/files.h"
#include "driver/json/json.h"
#include "driver/text/memory_size.h"
#include "driver/tool/batch_baseline.h"
#include "driver/tool/batch_progress.h"
#include "driver/tool/commands.h"

namespace stowage {

namespace {

namespace fs = std::filesystem;

/// The jobs that --only asks for; all without it. `names` become those of all that the file has, whose text is `text`.
Result<std::vector<Job>> wanted_jobs(const BatchCommandOptions& options, std::string_view text,
                                     const Backends& backends, std::vector<std::string>& names,
                                     Diagnostics& diagnostics) {
  auto jobs = parse_jobs(text, options.file, diagnostics, backends);
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

/// The files of results in the batch's folder.
std::vector<fs::path> own_files(const BatchCommandOptions& options, const fs::path& folder) {
  std::vector<fs::path> own = {folder / results_name, folder / summary_csv_name, folder / summary_page_name};
  if (!options.shard.empty()) own.push_back(folder / shard_note_name);
  return own;
}

/// What may not be replaced is said before any work.
bool check_free(const BatchOptions& batch, const std::vector<Job>& jobs, const std::optional<Baseline>& baseline,
                const BatchCommandOptions& options, const BatchJournal& journal, Diagnostics& diagnostics) {
  std::vector<fs::path> inputs = {options.file};
  if (baseline) inputs.emplace_back(baseline->file);
  for (const Job& job : jobs) {
    for (fs::path& file : files_read(job.request)) inputs.push_back(std::move(file));
  }
  const auto replace_file = [&](const fs::path& file) { return options.force || journal.is_own(file); };
  for (const fs::path& file : own_files(options, batch.folder)) {
    may_write_file(file, replace_file(file), inputs, diagnostics);
  }
  may_write_junit(options.junit, replace_file(options.junit), batch.folder, jobs, inputs, diagnostics);
  std::set<fs::path> networks;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (batch.starts[i].kept) continue;
    if (!jobs[i].network.empty()) networks.insert(network_path(jobs[i], batch.folder));
    const bool replace = options.force || batch.starts[i].replace;
    may_write_folder(batch.folder / jobs[i].name, FolderContent::plan, replace, inputs, diagnostics);
  }
  for (const fs::path& network : networks) {
    may_write_file(network, options.force || batch.own_networks.contains(network), inputs, diagnostics);
  }
  return !diagnostics.has_errors();
}

/// Looks what was done before, and writes down what is to be done. False after a reported error or a stop.
bool prepare(BatchOptions& batch, const std::vector<Job>& jobs, const std::optional<Baseline>& baseline,
             const BatchCommandOptions& options, BatchJournal& journal, const std::stop_token& stop,
             Diagnostics& diagnostics) {
  if (!journal.read(options.force, diagnostics)) return false;
  const auto by_contents = identities_of(jobs, stop);
  if (!by_contents) return false;
  const std::vector<std::string> identities = identities_in_build(*by_contents);
  const Again again = options.force ? Again::all : options.retry_failed ? Again::failed : Again::none;
  auto starts = starts_of(jobs, identities, journal, batch.folder, again, batch.search_seconds, diagnostics);
  if (!starts) return false;
  batch.starts = *std::move(starts);
  batch.own_networks = journal.networks();
  if (!check_free(batch, jobs, baseline, options, journal, diagnostics) ||
      !make_batch_folder(batch.folder, diagnostics)) {
    return false;
  }
  std::vector<Job> left;
  std::vector<std::string> identities_left;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (batch.starts[i].kept) continue;
    left.push_back(jobs[i]);
    identities_left.push_back(identities[i]);
  }
  std::vector<fs::path> replaced;
  if (options.force) {
    replaced = own_files(options, batch.folder);
    if (!options.junit.empty()) replaced.emplace_back(options.junit);
  }
  return journal.begin(left, identities_left, replaced, diagnostics);
}

void tell_kept(const std::vector<JobStart>& starts, ToolContext& context) {
  std::size_t kept = 0;
  std::size_t bad = 0;
  for (const JobStart& start : starts) {
    kept += start.kept ? 1 : 0;
    bad += start.kept && start.kept->state != JobState::done ? 1 : 0;
  }
  if (kept == 0) return;
  const std::string hint =
      bad == 0 ? "" : fmt::format("; --retry-failed would run the {} that failed", counted(bad, "job"));
  context.err << fmt::format("note: of {} {} {} run before and {} not run again{} [jobs-kept]\n",
                             counted(starts.size(), "job"), kept, for_number(kept, "was", "were"),
                             for_number(kept, "is", "are"), hint);
}

/// What --shard asks for; nothing without it. `jobs` are then those of the shard.
Result<std::optional<ShardNote>> divide(const BatchCommandOptions& options, const std::string& command,
                                        std::vector<Job>& jobs, const std::stop_token& stop) {
  if (options.shard.empty()) return std::optional<ShardNote>{};
  std::string why_not;
  const auto shard = parse_shard(options.shard, why_not);
  check(shard.has_value(), "the command line lets shards through only");
  auto note = shard_of(jobs, *shard, stop);
  if (!note) return Failed{};
  note->file = options.file;
  note->command = command;
  jobs = jobs_of(*note, jobs);
  return std::optional(*std::move(note));
}

fs::path folder_of(const BatchCommandOptions& options, const std::optional<ShardNote>& note) {
  if (!options.output.empty()) return options.output;
  const std::string whole = batch_folder_of(options.file);
  return note ? fmt::format("{}-{}-of-{}", whole, note->shard.number, note->shard.of) : whole;
}

/// What shard.json says when all jobs of the shard are done: then the results have come.
std::string finished_text(ShardNote note, const std::vector<JobResult>& results) {
  const bool all = std::none_of(results.begin(), results.end(),
                                [](const JobResult& result) { return result.state == JobState::interrupted; });
  const std::string lines = results_lines(results);
  if (all) note.results = hash_of(std::as_bytes(std::span(lines)));
  return to_text(note);
}

/// Runs those that are left, and writes down which came to their end.
std::vector<JobResult> run_jobs(const std::vector<Job>& jobs, const BatchOptions& batch, BatchJournal& journal,
                                ToolContext& context) {
  BatchProgress progress(jobs, batch.starts, context);
  const auto on_done = [&](const JobResult& result) {
    if (result.state != JobState::interrupted) journal.end(result);
    progress.ended(result);
  };
  return run_batch(jobs, batch, on_done, context.interrupt.token());
}

}  // namespace

std::string batch_folder_of(const std::string& file) { return fs::path(file).stem().string() + "-out"; }

bool make_batch_folder(const fs::path& folder, Diagnostics& diagnostics) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (!failure) return true;
  SourceLocation place;
  place.file = folder.string();
  diagnostics.error("file-error", place, "the output folder cannot be made: " + failure.message());
  return false;
}

int batch_command(const BatchCommandOptions& options, ToolContext& context) {
  if (!options.merged.empty()) return merge_command(options, context);
  if (!options.slurm.empty()) return slurm_command(options, context);
  if (!options.shard.empty() && !options.baseline.empty()) {
    // The files of a shard would not be those that a merge makes one of, and jobs of other shards would be gone.
    return usage_error(context, "batch", "--baseline does not go with --shard",
                       "compare the merged result: stowage batch --merge DIR... --baseline FILE");
  }
  if (!options.memory_per_job.empty() && context.program.empty()) {
    return usage_error(context, "batch",
                       "--memory-per-job needs jobs in processes of their own, which there are not here",
                       "run the tool itself");
  }
  Diagnostics diagnostics;
  std::vector<std::string> names;
  auto text = read_text_file(options.file, diagnostics);
  if (!text) return failed(context, diagnostics);
  auto jobs = wanted_jobs(options, *text, context.backends, names, diagnostics);
  if (!jobs) return failed(context, diagnostics);
  const std::stop_token stop = context.interrupt.token();
  const std::string command = "stowage batch " + shell_quoted(options.file);
  const auto note = divide(options, command, *jobs, stop);
  if (!note) return failed(context, diagnostics);
  if (options.dry_run) {
    context.out << (context.json ? jobs_json(*jobs) : jobs_table(*jobs) + "\n" + counted(jobs->size(), "job") + "\n");
    return exit_done;
  }
  const auto baseline = wanted_baseline(options, names, context, diagnostics);
  if (!baseline) return failed(context, diagnostics);
  BatchOptions batch;
  batch.folder = folder_of(options, *note);
  batch.force = options.force;
  batch.jobs = options.jobs;
  Diagnostics of_cache;
  batch.cost_cache = cost_cache_of(options.cost_cache, of_cache);
  print_warnings(context, of_cache);
  batch.command_line = command;
  batch.program = context.program;
  batch.file = options.file;
  batch.text = *std::move(text);
  if (!options.memory_per_job.empty()) {
    std::string why_not;
    batch.memory_bytes = parse_memory_size(options.memory_per_job, why_not);
    check(batch.memory_bytes.has_value(), "the command line lets sizes through only");
  }
  batch.search_seconds = options.timeout;
  const std::string shown = *note ? fmt::format("{} --shard {}", command, options.shard) : command;
  BatchJournal journal(batch.folder, options.only.empty() ? shown : fmt::format("{} --only {}", shown, options.only));
  if (!prepare(batch, *jobs, *baseline, options, journal, stop, diagnostics)) return failed(context, diagnostics);
  tell_kept(batch.starts, context);
  const WriteResult write = [&](const fs::path& file, const std::string& content) {
    const bool replace = options.force || journal.is_own(file);
    journal.writes(file, content);
    return write_file_whole(file, content, replace ? Existing::replace : Existing::keep, diagnostics);
  };
  const fs::path note_file = batch.folder / shard_note_name;
  if (*note && !write(note_file, to_text(**note))) return failed(context, diagnostics);

  BatchOutcome outcome{options.file, shown, batch.folder, *std::move(jobs), {}, {}};
  outcome.results = run_jobs(outcome.jobs, batch, journal, context);
  const auto plan_folder = [&](const std::string& job) { return batch.folder / job; };
  outcome.comparison =
      comparison_with(*baseline, outcome, names, options.tolerance, plan_folder, options.jobs, context, diagnostics);
  outcome.words =
      knee_words(outcome.jobs, outcome.results, plan_folder, options.jobs, context.backends, context.interrupt.token());
  {
    const Interrupt::Hold hold = context.interrupt.hold();
    const bool written = write_results(outcome, options.junit, write) &&
                         (!*note || write(note_file, finished_text(**note, outcome.results))) &&
                         journal.tidy(outcome.jobs, diagnostics);
    if (!written || diagnostics.has_errors()) return failed(context, diagnostics);
  }
  return print_results(outcome, context);
}

bool write_results(const BatchOutcome& outcome, const std::string& junit, const WriteResult& write) {
  const auto& [file, command_line, folder, jobs, results, comparison, words] = outcome;
  const Comparison* const beside = comparison ? &*comparison : nullptr;
  return write(folder / results_name, results_lines(results)) &&
         write(folder / summary_csv_name, results_csv(jobs, results, beside)) &&
         write(folder / summary_page_name, results_page(jobs, results, command_line, words, beside)) &&
         (junit.empty() || write(junit, junit_text(outcome)));
}

int print_results(const BatchOutcome& outcome, ToolContext& context) {
  const auto& [file, command_line, folder, jobs, results, comparison, words] = outcome;
  if (context.json) {
    std::string joined;
    for (const JobResult& result : results) {
      if (!result.json.empty()) joined += (joined.empty() ? "\n " : ",\n ") + result.json;
    }
    const std::string of_baseline = comparison ? ",\n\"baseline\": " + dumped(to_json(*comparison), 1) : "";
    context.out << fmt::format("{{\"jobs\": [{}\n]{}}}\n", joined, of_baseline);
  } else {
    context.out << fmt::format("stowage {} | {}\n\n", stowage_version(), command_line) << results_text(jobs, results)
                << fmt::format("\nresults in {}\n", (folder / results_name).string());
    if (comparison) context.out << "\n" << comparison_text(*comparison);
  }
  return batch_exit_code(results, comparison, context.interrupt.token().stop_requested());
}

}  // namespace stowage
