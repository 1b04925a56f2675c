// SPDX-License-Identifier: Apache-2.0
// The command `stowage batch`, as commands.h has the others.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/batch/batch.h"
#include "driver/tool/tool_context.h"

namespace stowage {

struct BatchCommandOptions {
  std::string file;
  std::string output;  ///< empty: the file's name without .toml, with "-out"; of a shard with "-out-I-of-N"
  bool force = false;
  int jobs = 1;
  std::string only;
  bool retry_failed = false;  ///< jobs that failed in an earlier run are run once more
  bool dry_run = false;       ///< list the jobs, do nothing
  std::optional<std::string> cost_cache;
  std::string shard;                ///< "I/N"; empty: the whole batch
  std::vector<std::string> merged;  ///< folders of shards, which are put together; nothing is run
};
int batch_command(const BatchCommandOptions& options, ToolContext& context);
/// `--merge`.
int merge_command(const BatchCommandOptions& options, ToolContext& context);

/// Where a batch writes unless it is told.
std::string batch_folder_of(const std::string& file);
/// Makes the folder for results, if there is none.
bool make_batch_folder(const std::filesystem::path& folder, Diagnostics& diagnostics);

/// Writes a file of a batch's folder, whole or not at all; false after a reported error.
using WriteResult = std::function<bool(std::string_view name, const std::string& text)>;
/// Writes the files of results.
bool write_results(const std::vector<Job>& jobs, const std::vector<JobResult>& results, const std::string& command_line,
                   const WriteResult& write);
/// Prints them; the exit code of a command that has them.
int print_results(const std::vector<Job>& jobs, const std::vector<JobResult>& results, const BatchOptions& batch,
                  const std::string& command_line, ToolContext& context);

}  // namespace stowage
