// SPDX-License-Identifier: Apache-2.0
// The shards of a batch (driver/batch/shard.h) as the batch that they are of.
#pragma once

#include <string>
#include <vector>

#include "driver/batch/batch.h"

namespace stowage {

/// As if one process had run it. Of the jobs there is what tables and pages of results tell of them.
struct MergedBatch {
  std::string file;     ///< batch file, as the shards were given it
  std::string command;  ///< of the whole batch
  std::vector<Job> jobs;
  std::vector<JobResult> results;
  std::vector<std::string> folders;  ///< by job: of the shard that ran it, where its plan is
};

/// Reads the folders of all shards, in any order. Reported, as many as there are: no-shard, damaged-shard,
/// other-version, other-batch, shard-given-twice, missing-shard, unfinished-shard, damaged-results.
Result<MergedBatch> merge_shards(const std::vector<std::string>& folders, Diagnostics& diagnostics);

}  // namespace stowage
