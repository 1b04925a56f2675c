// SPDX-License-Identifier: Apache-2.0
// `stowage batch --merge`.
#include <filesystem>

#include "driver/batch/merge.h"
#include "driver/files/files.h"
#include "driver/tool/batch_command.h"

namespace stowage {

namespace fs = std::filesystem;

int merge_command(const BatchCommandOptions& options, ToolContext& context) {
  Diagnostics diagnostics;
  const auto merged = merge_shards(options.merged, diagnostics);
  if (!merged) return failed(context, diagnostics);
  BatchOptions batch;
  batch.folder = options.output.empty() ? batch_folder_of(merged->file) : options.output;
  batch.force = options.force;
  std::vector<fs::path> inputs;
  for (const std::string& folder : options.merged) {
    for (const std::string_view name : {results_name, summary_csv_name, summary_page_name, shard_note_name}) {
      inputs.push_back(fs::path(folder) / name);
    }
  }
  for (const std::string_view name : {results_name, summary_csv_name, summary_page_name}) {
    may_write_file(batch.folder / name, options.force, inputs, diagnostics);
  }
  if (diagnostics.has_errors() || !make_batch_folder(batch.folder, diagnostics)) return failed(context, diagnostics);
  const Existing existing = options.force ? Existing::replace : Existing::keep;
  const auto write = [&](std::string_view name, const std::string& text) {
    return write_file_whole(batch.folder / name, text, existing, diagnostics);
  };
  {
    const Interrupt::Hold hold = context.interrupt.hold();
    if (!write_results(merged->jobs, merged->results, merged->command, write)) return failed(context, diagnostics);
  }
  return print_results(merged->jobs, merged->results, batch, merged->command, context);
}

}  // namespace stowage
