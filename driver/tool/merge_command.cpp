// SPDX-License-Identifier: Apache-2.0
// `stowage batch --merge`.
#include <filesystem>
#include <map>
#include <string_view>

#include "driver/batch/merge.h"
#include "driver/files/files.h"
#include "driver/tool/batch_baseline.h"
#include "driver/tool/batch_command.h"

namespace stowage {

namespace fs = std::filesystem;

namespace {

/// What may not be replaced is said before anything is written.
bool check_free(const BatchOutcome& outcome, const std::optional<Baseline>& baseline,
                const BatchCommandOptions& options, Diagnostics& diagnostics) {
  std::vector<fs::path> inputs;
  if (baseline) inputs.emplace_back(baseline->file);
  for (const std::string& folder : options.merged) {
    for (const std::string_view name : {results_name, summary_csv_name, summary_page_name, shard_note_name}) {
      inputs.push_back(fs::path(folder) / name);
    }
  }
  for (const std::string_view name : {results_name, summary_csv_name, summary_page_name}) {
    may_write_file(outcome.folder / name, options.force, inputs, diagnostics);
  }
  may_write_junit(options.junit, options.force, outcome.folder, outcome.jobs, inputs, diagnostics);
  return !diagnostics.has_errors();
}

}  // namespace

int merge_command(const BatchCommandOptions& options, ToolContext& context) {
  Diagnostics diagnostics;
  auto merged = merge_shards(options.merged, diagnostics);
  if (!merged) return failed(context, diagnostics);
  std::vector<std::string> names;
  std::map<std::string, std::size_t> shards;
  for (std::size_t i = 0; i < merged->jobs.size(); ++i) {
    const std::string& job = merged->jobs[i].name;
    names.push_back(job);
    shards.emplace(job, merged->lines[i].shard);
  }
  const auto baseline = wanted_baseline(options, names, context, diagnostics);
  if (!baseline) return failed(context, diagnostics);
  const fs::path folder = options.output.empty() ? fs::path(batch_folder_of(merged->file)) : fs::path(options.output);
  BatchOutcome outcome{
      merged->file, merged->command, folder, std::move(merged->jobs), std::move(merged->results), {}, {}};
  outcome.line = [&](std::size_t job) { return line_of(*merged, job); };
  if (!check_free(outcome, *baseline, options, diagnostics)) return failed(context, diagnostics);
  const auto plan_folder = [&](const std::string& job) { return fs::path(merged->folders[shards.at(job)]) / job; };
  outcome.comparison =
      comparison_with(*baseline, outcome, names, options.tolerance, plan_folder, options.jobs, context, diagnostics);
  outcome.words =
      knee_words(outcome.jobs, outcome.results, plan_folder, options.jobs, context.backends, context.interrupt.token());
  if (diagnostics.has_errors() || !make_batch_folder(folder, diagnostics)) return failed(context, diagnostics);
  const Existing existing = options.force ? Existing::replace : Existing::keep;
  const auto write = [&](const fs::path& file, const TextPieces& pieces) {
    TextFileWriter writer(file, existing);
    pieces([&](std::string_view piece) { writer.write(piece); });
    return writer.commit(diagnostics);
  };
  {
    const Interrupt::Hold hold = context.interrupt.hold();
    if (!write_results(outcome, options.junit, write)) return failed(context, diagnostics);
  }
  return print_results(outcome, context);
}

}  // namespace stowage
