// SPDX-License-Identifier: Apache-2.0
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
#include "driver/tool/batch_command.h"
#include "driver/tool/commands.h"

namespace stowage {

namespace {

namespace fs = std::filesystem;

/// The jobs that --only asks for; all without it.
Result<std::vector<Job>> wanted_jobs(const BatchCommandOptions& options, const Backends& backends,
                                     Diagnostics& diagnostics) {
  auto jobs = load_jobs(options.file, diagnostics, backends);
  if (!jobs || options.only.empty()) return jobs;
  std::vector<std::string> names;
  for (const Job& job : *jobs) {
    if (job.name == options.only) return std::vector<Job>{job};
    names.push_back(job.name);
  }
  SourceLocation place;
  place.file = options.file;
  diagnostics.error("unknown-job", place, fmt::format("no job '{}'", options.only), suggest_name(options.only, names));
  return Failed{};
}

/// The files that a batch writes for itself.
std::vector<std::string_view> own_files(const BatchCommandOptions& options) {
  std::vector<std::string_view> own = {results_name, summary_csv_name, summary_page_name};
  if (!options.shard.empty()) own.push_back(shard_note_name);
  return own;
}

/// What may not be replaced is said before any work.
bool check_free(const BatchOptions& batch, const std::vector<Job>& jobs, const BatchCommandOptions& options,
                const BatchJournal& journal, Diagnostics& diagnostics) {
  std::vector<fs::path> inputs = {options.file};
  for (const Job& job : jobs) {
    for (fs::path& file : files_read(job.request)) inputs.push_back(std::move(file));
  }
  for (const std::string_view name : own_files(options)) {
    const bool replace = options.force || journal.is_own(name);
    may_write_file(batch.folder / name, replace, inputs, diagnostics);
  }
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
bool prepare(BatchOptions& batch, const std::vector<Job>& jobs, const BatchCommandOptions& options,
             BatchJournal& journal, const std::stop_token& stop, Diagnostics& diagnostics) {
  if (!journal.read(options.force, diagnostics)) return false;
  const auto by_contents = identities_of(jobs, stop);
  if (!by_contents) return false;
  const std::vector<std::string> identities = identities_in_build(*by_contents);
  const Again again = options.force ? Again::all : options.retry_failed ? Again::failed : Again::none;
  auto starts = starts_of(jobs, identities, journal, batch.folder, again, diagnostics);
  if (!starts) return false;
  batch.starts = *std::move(starts);
  batch.own_networks = journal.networks();
  if (!check_free(batch, jobs, options, journal, diagnostics) || !make_batch_folder(batch.folder, diagnostics)) {
    return false;
  }
  std::vector<Job> left;
  std::vector<std::string> identities_left;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (batch.starts[i].kept) continue;
    left.push_back(jobs[i]);
    identities_left.push_back(identities[i]);
  }
  const auto replaced = options.force ? own_files(options) : std::vector<std::string_view>{};
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
  Diagnostics diagnostics;
  auto jobs = wanted_jobs(options, context.backends, diagnostics);
  if (!jobs) return failed(context, diagnostics);
  const std::stop_token stop = context.interrupt.token();
  const std::string command = "stowage batch " + shell_quoted(options.file);
  const auto note = divide(options, command, *jobs, stop);
  if (!note) return failed(context, diagnostics);
  if (options.dry_run) {
    context.out << (context.json ? jobs_json(*jobs) : jobs_table(*jobs) + "\n" + counted(jobs->size(), "job") + "\n");
    return exit_done;
  }
  BatchOptions batch;
  batch.folder = folder_of(options, *note);
  batch.force = options.force;
  batch.jobs = options.jobs;
  Diagnostics of_cache;
  batch.cost_cache = cost_cache_of(options.cost_cache, of_cache);
  print_warnings(context, of_cache);
  batch.command_line = command;
  const std::string shown = *note ? fmt::format("{} --shard {}", command, options.shard) : command;
  BatchJournal journal(batch.folder, options.only.empty() ? shown : fmt::format("{} --only {}", shown, options.only));
  if (!prepare(batch, *jobs, options, journal, stop, diagnostics)) return failed(context, diagnostics);
  tell_kept(batch.starts, context);
  const WriteResult write = [&](std::string_view name, const std::string& text) {
    const bool replace = options.force || journal.is_own(name);
    journal.writes(name, text);
    return write_file_whole(batch.folder / name, text, replace ? Existing::replace : Existing::keep, diagnostics);
  };
  if (*note && !write(shard_note_name, to_text(**note))) return failed(context, diagnostics);

  const auto left = std::count_if(batch.starts.begin(), batch.starts.end(), [](const JobStart& s) { return !s.kept; });
  std::ptrdiff_t done = 0;
  const auto on_done = [&](const JobResult& result) {
    if (result.state != JobState::interrupted) journal.end(result);
    if (context.terminal != nullptr) {
      context.err << fmt::format("[{}/{}] {}: {}\n", ++done, left, result.name, name_of(result.state));
    }
    print_warnings(context, result.diagnostics);
    context.err << std::flush;
  };
  const std::vector<JobResult> results = run_batch(*jobs, batch, on_done, stop);

  {
    const Interrupt::Hold hold = context.interrupt.hold();
    if (!write_results(*jobs, results, shown, write) ||
        (*note && !write(shard_note_name, finished_text(**note, results))) || !journal.tidy(*jobs, diagnostics)) {
      return failed(context, diagnostics);
    }
  }
  return print_results(*jobs, results, batch, shown, context);
}

bool write_results(const std::vector<Job>& jobs, const std::vector<JobResult>& results, const std::string& command_line,
                   const WriteResult& write) {
  return write(results_name, results_lines(results)) && write(summary_csv_name, results_csv(jobs, results)) &&
         write(summary_page_name, results_page(jobs, results, command_line));
}

int print_results(const std::vector<Job>& jobs, const std::vector<JobResult>& results, const BatchOptions& batch,
                  const std::string& command_line, ToolContext& context) {
  if (context.json) {
    std::string joined;
    for (const JobResult& result : results) {
      if (!result.json.empty()) joined += (joined.empty() ? "\n " : ",\n ") + result.json;
    }
    context.out << fmt::format("{{\"jobs\": [{}\n]}}\n", joined);
  } else {
    context.out << fmt::format("stowage {} | {}\n\n", stowage_version(), command_line) << results_text(jobs, results)
                << fmt::format("\nresults in {}\n", (batch.folder / results_name).string());
  }
  const auto any = [&](JobState state) {
    return std::any_of(results.begin(), results.end(), [&](const JobResult& r) { return r.state == state; });
  };
  if (any(JobState::fault)) return exit_fault;
  if (context.interrupt.token().stop_requested()) return exit_interrupted;
  return any(JobState::failed) ? exit_failed : exit_done;
}

}  // namespace stowage
