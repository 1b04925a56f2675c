// SPDX-License-Identifier: Apache-2.0
#include "driver/tool/batch_command.h"

#include <algorithm>
#include <filesystem>
#include <map>
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

/// The jobs that --only asks for; all without it. With a baseline `names` become those of all that the file has, whose
/// text is `text`.
Result<std::vector<Job>> wanted_jobs(const BatchCommandOptions& options, std::string_view text,
                                     const Backends& backends, std::vector<std::string>& names,
                                     Diagnostics& diagnostics) {
  auto jobs = parse_jobs(text, options.file, diagnostics, backends);
  if (!jobs) return jobs;
  if (options.only.empty() && options.baseline.empty()) return jobs;
  for (const Job& job : *jobs) names.push_back(job.name);
  if (options.only.empty()) return jobs;
  for (const Job& job : *jobs) {
    if (job.name == options.only) return std::vector<Job>{job};
  }
  SourceLocation location;
  location.file = options.file;
  diagnostics.error("unknown-job", location, fmt::format("no job '{}'", options.only),
                    suggest_name(options.only, names));
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
  std::set<fs::path> read = {options.file};
  if (baseline) read.emplace(baseline->file);
  for (const Job& job : jobs) {
    for (fs::path& file : files_read(job.keys->request)) read.insert(std::move(file));
  }
  const std::vector<fs::path> inputs(read.begin(), read.end());
  const auto replace_file = [&](const fs::path& file) { return options.force || journal.is_own(file); };
  for (const fs::path& file : own_files(options, batch.folder)) {
    may_write_file(file, replace_file(file), inputs, diagnostics);
  }
  may_write_junit(options.junit, replace_file(options.junit), batch.folder, jobs, inputs, diagnostics);
  std::set<fs::path> networks;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (batch.starts[i].kept) continue;
    if (!jobs[i].keys->network.empty()) networks.insert(network_path(jobs[i], batch.folder));
    const bool replace = options.force || batch.starts[i].replace;
    may_write_folder(batch.folder / jobs[i].name, FolderContent::plan, replace, inputs, diagnostics);
  }
  for (const fs::path& network : networks) {
    may_write_file(network, options.force || batch.own_networks.contains(network), inputs, diagnostics);
  }
  return !diagnostics.has_errors();
}

/// Looks what was done before, and writes down what is to be done. False after a reported error or a stop.
/// `results` become those of the jobs that stay.
bool prepare(BatchOptions& batch, const std::vector<Job>& jobs, const std::optional<Baseline>& baseline,
             const BatchCommandOptions& options, BatchJournal& journal, std::vector<JobEnd>& results,
             const std::stop_token& stop, Diagnostics& diagnostics) {
  if (!journal.read(options.force, diagnostics)) return false;
  auto by_contents = identities_of(jobs, stop);
  if (!by_contents) return false;
  const std::vector<Identity> identities = identities_in_build(*std::move(by_contents));
  const Again again = options.force ? Again::all : options.retry_failed ? Again::failed : Again::none;
  auto known = known_jobs(jobs, identities, journal, batch.folder, again, batch.search_seconds, diagnostics);
  if (!known) return false;
  batch.starts = std::move(known->starts);
  results = std::move(known->results);
  batch.own_networks = journal.networks();
  if (!check_free(batch, jobs, baseline, options, journal, diagnostics) ||
      !make_batch_folder(batch.folder, diagnostics)) {
    return false;
  }
  std::vector<Job> left;
  std::vector<Identity> identities_left;
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

void tell_kept(const std::vector<JobStart>& starts, const std::vector<JobEnd>& results, ToolContext& context) {
  std::size_t kept = 0;
  std::size_t bad = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    kept += starts[i].kept ? 1 : 0;
    bad += starts[i].kept && results[i].state != JobState::done ? 1 : 0;
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

/// What shard.json says when all jobs of the shard are done: then the results, a file that is there, have come.
std::string finished_text(ShardNote note, const BatchOutcome& outcome, Diagnostics& diagnostics) {
  const bool all = std::none_of(outcome.results.begin(), outcome.results.end(),
                                [](const JobEnd& result) { return result.state == JobState::interrupted; });
  if (const auto hash = hash_of_file((outcome.folder / results_name).string(), diagnostics); all && hash) {
    note.results = *hash;
  }
  return to_text(note);
}

/// What a batch, whose file has this text, is run with.
BatchOptions batch_options(const BatchCommandOptions& options, const std::optional<ShardNote>& note,
                           const std::string& command, std::string text, ToolContext& context) {
  BatchOptions batch;
  batch.folder = folder_of(options, note);
  batch.force = options.force;
  batch.jobs = options.jobs;
  Diagnostics of_cache;
  batch.cost_cache = cost_cache_of(options.cost_cache, of_cache);
  print_warnings(context, of_cache);
  batch.command_line = command;
  batch.program = context.program;
  batch.file = options.file;
  batch.text = std::move(text);
  if (!options.memory_per_job.empty()) {
    std::string why_not;
    batch.memory_bytes = parse_memory_size(options.memory_per_job, why_not);
    check(batch.memory_bytes.has_value(), "the command line lets sizes through only");
  }
  batch.search_seconds = options.timeout;
  return batch;
}

/// Runs those that are left, and writes down which came to their end. Those that are interrupted meanwhile, and do not,
/// go to `interrupted` with their lines.
std::vector<JobEnd> run_jobs(const std::vector<Job>& jobs, const BatchOptions& batch, std::vector<JobEnd> kept,
                             BatchJournal& journal, std::map<std::string, std::string>& interrupted,
                             ToolContext& context) {
  BatchProgress progress(jobs, batch.starts, context);
  const auto on_done = [&](const JobResult& result) {
    if (result.state != JobState::interrupted) {
      journal.end(result);
    } else {
      interrupted.emplace(result.name, result.json);
    }
    progress.ended(result);
  };
  return run_batch(jobs, batch, std::move(kept), on_done, context.interrupt.token());
}

}  // namespace

std::string batch_folder_of(const std::string& file) { return fs::path(file).stem().string() + "-out"; }

bool make_batch_folder(const fs::path& folder, Diagnostics& diagnostics) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (!failure) return true;
  SourceLocation location;
  location.file = folder.string();
  diagnostics.error("file-error", location, "the output folder cannot be made: " + failure.message());
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
  BatchOptions batch = batch_options(options, *note, command, *std::move(text), context);
  const std::string shown = *note ? fmt::format("{} --shard {}", command, options.shard) : command;
  BatchJournal journal(batch.folder, options.only.empty() ? shown : fmt::format("{} --only {}", shown, options.only));
  std::vector<JobEnd> kept;
  if (!prepare(batch, *jobs, *baseline, options, journal, kept, stop, diagnostics)) {
    return failed(context, diagnostics);
  }
  tell_kept(batch.starts, kept, context);
  const WriteResult write = [&](const fs::path& file, const TextPieces& pieces) {
    const bool replace = options.force || journal.is_own(file);
    TextFileWriter writer(file, replace ? Existing::replace : Existing::keep);
    pieces([&](std::string_view piece) { writer.write(piece); });
    journal.writes(file, writer.hash());
    return writer.commit(diagnostics);
  };
  const auto write_note = [&](const std::string& content) {
    return write(batch.folder / shard_note_name, [&](const TextSink& sink) { sink(content); });
  };
  if (*note && !write_note(to_text(**note))) return failed(context, diagnostics);

  BatchOutcome outcome{options.file, shown, batch.folder, *std::move(jobs), {}, {}, {}};
  std::map<std::string, std::string> interrupted;
  outcome.results = run_jobs(outcome.jobs, batch, std::move(kept), journal, interrupted, context);
  outcome.line = [&](std::size_t job) {
    const auto found = interrupted.find(outcome.jobs[job].name);
    return found != interrupted.end() ? found->second : journal.line(outcome.jobs[job].name);
  };
  journal.is_whole(diagnostics);  // if not, the results are written, and the command fails at its end
  const auto plan_folder = [&](const std::string& job) { return batch.folder / job; };
  outcome.comparison =
      comparison_with(*baseline, outcome, names, options.tolerance, plan_folder, options.jobs, context, diagnostics);
  outcome.words =
      knee_words(outcome.jobs, outcome.results, plan_folder, options.jobs, context.backends, context.interrupt.token());
  {
    const Interrupt::Hold hold = context.interrupt.hold();
    const bool written = write_results(outcome, options.junit, write) &&
                         (!*note || write_note(finished_text(**note, outcome, diagnostics))) &&
                         journal.tidy(outcome.jobs, diagnostics);
    if (!written || diagnostics.has_errors()) return failed(context, diagnostics);
  }
  return print_results(outcome, context);
}

ResultsView view_of(const BatchOutcome& outcome) {
  return {outcome.jobs, outcome.results, outcome.line, outcome.comparison ? &*outcome.comparison : nullptr};
}

bool write_results(const BatchOutcome& outcome, const std::string& junit, const WriteResult& write) {
  const ResultsView view = view_of(outcome);
  return write(outcome.folder / results_name, [&](const TextSink& sink) { results_lines(view, sink); }) &&
         write(outcome.folder / summary_csv_name, [&](const TextSink& sink) { results_csv(view, sink); }) &&
         write(outcome.folder / summary_page_name,
               [&](const TextSink& sink) { results_page(view, outcome.command_line, outcome.words, sink); }) &&
         (junit.empty() || write(junit, [&](const TextSink& sink) { sink(junit_text(outcome)); }));
}

int print_results(const BatchOutcome& outcome, ToolContext& context) {
  const std::optional<Comparison>& comparison = outcome.comparison;
  if (context.json) {
    context.out << "{\"jobs\": [";
    bool is_first = true;
    results_lines(view_of(outcome), [&](std::string_view line) {
      context.out << (is_first ? "\n " : ",\n ") << line.substr(0, line.size() - 1);
      is_first = false;
    });
    const std::string of_baseline = comparison ? ",\n\"baseline\": " + dumped(to_json(*comparison), 1) : "";
    context.out << fmt::format("\n]{}}}\n", of_baseline);
  } else {
    context.out << fmt::format("stowage {} | {}\n\n", stowage_version(), outcome.command_line);
    results_text(view_of(outcome), [&](std::string_view piece) { context.out << piece; });
    context.out << fmt::format("\nresults in {}\n", (outcome.folder / results_name).string());
    if (comparison) context.out << "\n" << comparison_text(*comparison);
  }
  return batch_exit_code(outcome.results, comparison, context.interrupt.token().stop_requested());
}

}  // namespace stowage
