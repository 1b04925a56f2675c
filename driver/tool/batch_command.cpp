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
#include "driver/batch/results.h"
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

/// What may not be replaced is said before any work.
bool check_free(const fs::path& folder, const std::vector<Job>& jobs, const BatchCommandOptions& options,
                Diagnostics& diagnostics) {
  std::vector<fs::path> inputs = {options.file};
  for (const Job& job : jobs) {
    for (fs::path& file : files_read(job.request)) inputs.push_back(std::move(file));
  }
  std::vector<std::string_view> own = {results_name, summary_csv_name, summary_page_name};
  if (!options.shard.empty()) own.push_back(shard_note_name);
  for (const std::string_view name : own) may_write_file(folder / name, options.force, inputs, diagnostics);
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

/// Before the first job is run, and once more when all are done: then the results have come.
bool write_note(const ShardNote& note, const fs::path& folder, Existing existing, ToolContext& context,
                Diagnostics& diagnostics) {
  const Interrupt::Hold hold = context.interrupt.hold();
  return write_file_whole(folder / shard_note_name, to_text(note), existing, diagnostics);
}

bool finish(ShardNote note, const std::vector<JobResult>& results, const fs::path& folder, ToolContext& context,
            Diagnostics& diagnostics) {
  const bool all = std::none_of(results.begin(), results.end(),
                                [](const JobResult& result) { return result.state == JobState::interrupted; });
  if (!all) return true;
  const std::string lines = results_lines(results);
  note.results = hash_of(std::as_bytes(std::span(lines)));
  return write_note(note, folder, Existing::replace, context, diagnostics);
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
  const Existing existing = options.force ? Existing::replace : Existing::keep;
  if (!check_free(batch.folder, *jobs, options, diagnostics) || !make_batch_folder(batch.folder, diagnostics) ||
      (*note && !write_note(**note, batch.folder, existing, context, diagnostics))) {
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
  const std::vector<JobResult> results = run_batch(*jobs, batch, on_done, stop);

  const std::string shown = *note ? fmt::format("{} --shard {}", command, options.shard) : command;
  if (!write_results(*jobs, results, batch, shown, context, diagnostics) ||
      (*note && !finish(**note, results, batch.folder, context, diagnostics))) {
    return failed(context, diagnostics);
  }
  return print_results(*jobs, results, batch, shown, context);
}

bool write_results(const std::vector<Job>& jobs, const std::vector<JobResult>& results, const BatchOptions& batch,
                   const std::string& command_line, ToolContext& context, Diagnostics& diagnostics) {
  const Interrupt::Hold hold = context.interrupt.hold();
  const Existing existing = batch.force ? Existing::replace : Existing::keep;
  return write_file_whole(batch.folder / results_name, results_lines(results), existing, diagnostics) &&
         write_file_whole(batch.folder / summary_csv_name, results_csv(jobs, results), existing, diagnostics) &&
         write_file_whole(batch.folder / summary_page_name, results_page(jobs, results, command_line), existing,
                          diagnostics);
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
