// SPDX-License-Identifier: Apache-2.0
// `stowage batch --baseline` and `--junit`: what is asked of a batch besides its results.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/batch/baseline.h"
#include "driver/tool/batch_command.h"

namespace stowage {

/// What the batch is compared with; nothing without --baseline. `names` are those of all jobs of its file.
Result<std::optional<Baseline>> wanted_baseline(const BatchCommandOptions& options,
                                                const std::vector<std::string>& names, ToolContext& context,
                                                Diagnostics& diagnostics);

/// The results beside the baseline; nothing without one, and where a row cannot be read back, which is reported.
/// `names` as above, `plan_folder` as for add_plan_verdicts().
std::optional<Comparison> comparison_with(const std::optional<Baseline>& baseline, const BatchOutcome& outcome,
                                          const std::vector<std::string>& names, double tolerance,
                                          const PlanFolder& plan_folder, int threads, const ToolContext& context,
                                          Diagnostics& diagnostics);

/// True without a file of test cases, and if it may be written (may_write_file) in a folder that there is, where the
/// batch itself, with these jobs, writes nothing.
bool may_write_junit(const std::string& junit, bool replace, const std::filesystem::path& folder,
                     const std::vector<Job>& jobs, std::span<const std::filesystem::path> inputs,
                     Diagnostics& diagnostics);
/// The test cases of the results as their lines tell them, so that they are the same bytes whether a job was run now,
/// in an earlier attempt or in a shard.
std::string junit_text(const BatchOutcome& outcome);

/// docs/command-line.md has the table.
int batch_exit_code(const std::vector<JobEnd>& results, const std::optional<Comparison>& comparison, bool is_stopped);

}  // namespace stowage
