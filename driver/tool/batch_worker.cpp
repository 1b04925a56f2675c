// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <fmt/format.h>

#include "driver/batch/job_process.h"
#include "driver/tool/batch_command.h"

namespace stowage {

int batch_worker(ToolContext& context) {
  if (serve_jobs(STDIN_FILENO, context.interrupt.token())) return exit_done;
  return usage_error(context, "",
                     fmt::format("'{}' is what 'stowage batch' starts to run its jobs", job_worker_command),
                     "run 'stowage batch JOBS.toml'");
}

}  // namespace stowage
