// SPDX-License-Identifier: Apache-2.0
// The shards of a batch (driver/batch/shard.h) as the batch that they are of.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "driver/batch/batch.h"

namespace stowage {

/// As if one process had run it. Of the jobs there is what tables and pages of results tell of them; their lines stay
/// in the shards' files: a batch may have a million.
struct MergedBatch {
  std::string file;     ///< batch file, as the shards were given it
  std::string command;  ///< of the whole batch
  std::vector<Job> jobs;
  std::vector<JobEnd> results;
  std::vector<std::string> folders;  ///< of the shards
  /// Where a job's line stands in the results of the shard that ran it.
  struct ResultLine {
    std::size_t shard = 0;  ///< in whose folder its plan is, too
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  std::vector<ResultLine> lines;  ///< by job
};
/// std::runtime_error where the file is not there any more, or is shorter.
std::string line_of(const MergedBatch& batch, std::size_t job);

/// Reads the folders of all shards, in any order. Reported, as many as there are: no-shard, damaged-shard,
/// other-version, other-batch, shard-given-twice, missing-shard, unfinished-shard, damaged-results.
Result<MergedBatch> merge_shards(const std::vector<std::string>& folders, Diagnostics& diagnostics);

}  // namespace stowage
