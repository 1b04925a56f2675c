// SPDX-License-Identifier: Apache-2.0
// All that a batch file says: its jobs, and how a cluster is to run them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driver/batch/batch.h"
#include "driver/batch/slurm.h"

namespace stowage {

struct BatchFile {
  std::vector<Job> jobs;
  SlurmSettings slurm;  ///< of the file and of those that it includes, its own last
};
/// As parse_jobs().
Result<BatchFile> parse_batch_file(std::string_view text, const std::string& path, Diagnostics& diagnostics,
                                   const Backends& backends = built_in_backends());

}  // namespace stowage
