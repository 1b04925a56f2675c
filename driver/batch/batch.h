// SPDX-License-Identifier: Apache-2.0
// Many compilations from one TOML file (docs/command-line.md), run side by side. A job that fails does not stop the
// others.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/shared.h"
#include "driver/batch/sweep.h"
#include "driver/session/session.h"

namespace stowage {

/// What many jobs have in common.
struct JobKeys {
  std::string network;  ///< sample network to write; empty if the request names a model
  std::int64_t network_batch = 1;
  std::int64_t network_seed = 1;
  bool check = false;      ///< emulate and compare with the reference
  CompileRequest request;  ///< without settings that a sweep gave
  std::string fixed;       ///< the schedules and groups of the request, as TOML
};

/// A batch may have a million of them.
struct Job {
  std::string name;  ///< also the name of its output folder
  Shared<JobKeys> keys;
  Combination swept;  ///< what a sweep gave it
};
/// With all of its settings.
CompileRequest request_of(const Job& job);

/// Why no job, which has a folder of its own in the batch's, can have that name; empty where one can.
std::string why_no_folder(const std::string& name);

/// What it compiles: the sample network's name or the model's path.
const std::string& source_of(const Job& job);

/// The text of a batch file, with the files that it includes. Paths in a file are relative to its folder.
Result<std::vector<Job>> parse_jobs(std::string_view text, const std::string& path, Diagnostics& diagnostics,
                                    const Backends& backends = built_in_backends());
/// The file of that path.
Result<std::vector<Job>> load_jobs(const std::string& path, Diagnostics& diagnostics,
                                   const Backends& backends = built_in_backends());

/// Files of a batch's folder: one object a job, a row a job, and a page of both.
inline constexpr std::string_view results_name = "results.jsonl";
inline constexpr std::string_view summary_csv_name = "summary.csv";
inline constexpr std::string_view summary_page_name = "summary.html";
inline constexpr std::string_view shard_note_name = "shard.json";  ///< of a batch's shard (driver/batch/shard.h)

/// Where a job's sample network is written.
std::filesystem::path network_path(const Job& job, const std::filesystem::path& folder);

enum class JobState : std::uint8_t { done, failed, fault, interrupted };
std::string_view name_of(JobState state);

/// Of a job's program, what tables of many jobs show.
struct JobTotals {
  std::int64_t groups = 0;
  std::int64_t kernels = 0;
  std::int64_t dma_transfers = 0;
  std::int64_t dma_bytes = 0;
  std::int64_t ldm_peak_bytes = 0;
  std::int64_t cycles = 0;
  double seconds = 0;
};

/// What is held of a job that has been run as long as the batch lasts: it may have a million.
struct JobEnd {
  JobState state = JobState::interrupted;
  std::string summary;  ///< "agrees", or the first thing that went wrong
  std::optional<JobTotals> totals;
  std::optional<double> out_of_time;  ///< this limit of seconds decided the result, which may be better with another
};

struct JobResult : JobEnd {
  std::string name;
  std::string json;  ///< one line, without line break
  Diagnostics diagnostics;
};

/// What is known of a job before the batch runs.
struct JobStart {
  bool kept = false;     ///< it came to its end before and is not run
  bool replace = false;  ///< what stands at its plan's place is ours, and goes
};

/// What all jobs of a batch are run under.
struct JobConditions {
  std::filesystem::path folder;              ///< every job writes folder/NAME; sample networks go to folder/networks
  int jobs = 1;                              ///< side by side
  std::string cost_cache;                    ///< folder; empty: none
  std::string command_line;                  ///< of the batch; a job's own is this with --only
  std::optional<std::int64_t> memory_bytes;  ///< that each process of a job may have; nothing: no limit
  std::optional<double> search_seconds;      ///< that a job may look for its plan; nothing: no limit
};

struct BatchOptions : JobConditions {
  bool force = false;
  std::vector<JobStart> starts;                  ///< by job; empty: nothing is known
  std::set<std::filesystem::path> own_networks;  ///< sample networks that may be written over
  /// Runs jobs in processes of their own (driver/batch/job_worker.cpp); empty: they run in this one, without a limit.
  std::string program;
  std::string file;  ///< of the batch, and what stood in it when the jobs were read; for these processes
  std::string text;
};

/// Runs the jobs; how they ended, in the order of the jobs. `kept` are those by job that are not run (nothing else of
/// it is looked at), or empty. `on_done` is called with the whole result as each that is run ends, one call at a time.
/// What is run where changes nothing in the results.
std::vector<JobEnd> run_batch(const std::vector<Job>& jobs, const BatchOptions& options, std::vector<JobEnd> kept,
                              const std::function<void(const JobResult&)>& on_done, std::stop_token stop);

/// What `--dry-run` prints: the jobs with what they were given.
std::string jobs_table(const std::vector<Job>& jobs);
/// The same as a JSON array.
std::string jobs_json(const std::vector<Job>& jobs);

}  // namespace stowage
