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
std::optional<Comparison> comparison_with(const std::optional<Baseline>& baseline,
                                          const std::vector<JobResult>& results, const std::vector<std::string>& names,
                                          const BatchOptions& batch, const BatchCommandOptions& options,
                                          const ToolContext& context, Diagnostics& diagnostics);

/// True without --junit, and if its file may be written (may_write_file) in a folder that there is, where the batch
/// itself writes nothing.
bool may_write_junit(const BatchCommandOptions& options, const std::filesystem::path& folder,
                     const std::vector<Job>& jobs, std::span<const std::filesystem::path> inputs,
                     Diagnostics& diagnostics);
bool write_junit(const BatchCommandOptions& options, const std::vector<JobResult>& results,
                 const Comparison* comparison, Diagnostics& diagnostics);

/// docs/command-line.md has the table.
int batch_exit_code(const std::vector<JobResult>& results, const std::optional<Comparison>& comparison,
                    bool is_stopped);

}  // namespace stowage
