// SPDX-License-Identifier: Apache-2.0
// The command `stowage batch`, as commands.h has the others.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/batch/baseline.h"
#include "driver/batch/batch.h"
#include "driver/batch/results.h"
#include "driver/batch/sweep_page.h"
#include "driver/tool/tool_context.h"

namespace stowage {

struct BatchCommandOptions {
  std::string file;
  std::string output;  ///< empty: the file's name without .toml, with "-out"; of a shard with "-out-I-of-N"
  bool force = false;
  int jobs = 1;
  std::string only;
  std::string memory_per_job;     ///< a size; empty: no limit
  std::optional<double> timeout;  ///< seconds that a job may look for its plan
  bool retry_failed = false;      ///< jobs that failed in an earlier run are run once more
  bool dry_run = false;           ///< list the jobs, do nothing
  std::optional<std::string> cost_cache;
  std::string baseline;  ///< results.jsonl of an earlier run, or its folder; empty: none
  double tolerance = usual_tolerance;
  std::string junit;                ///< file; empty: none
  std::string shard;                ///< "I/N"; empty: the whole batch
  std::string slurm;                ///< script to be written instead of running anything; empty: none
  std::vector<std::string> merged;  ///< folders of shards, which are put together; nothing is run
};
int batch_command(const BatchCommandOptions& options, ToolContext& context);
/// `--merge`.
int merge_command(const BatchCommandOptions& options, ToolContext& context);
/// `--slurm`: writes scripts, runs nothing.
int slurm_command(const BatchCommandOptions& options, ToolContext& context);
/// What `batch` starts for its jobs (driver/batch/job_process.h).
int batch_worker(ToolContext& context);

/// Where a batch writes unless it is told.
std::string batch_folder_of(const std::string& file);
/// Makes the folder for results, if there is none.
bool make_batch_folder(const std::filesystem::path& folder, Diagnostics& diagnostics);

/// What a batch has found, run or merged.
struct BatchOutcome {
  std::string file;              ///< the batch's
  std::string command_line;      ///< of the batch
  std::filesystem::path folder;  ///< of the results
  std::vector<Job> jobs;
  std::vector<JobEnd> results;  ///< by job
  ResultLine line;
  std::optional<Comparison> comparison;  ///< with the baseline, if one is wanted
  KneeWords words = {};                  ///< what plans do otherwise at the knees of sweeps
};

ResultsView view_of(const BatchOutcome& outcome);

/// Writes a file whole or not at all; false after a reported error.
using WriteResult = std::function<bool(const std::filesystem::path& file, const TextPieces& pieces)>;
/// Writes the files of results, and where `junit` names a file the test cases.
bool write_results(const BatchOutcome& outcome, const std::string& junit, const WriteResult& write);
/// Prints them; the exit code of a command that has them.
int print_results(const BatchOutcome& outcome, ToolContext& context);

}  // namespace stowage
