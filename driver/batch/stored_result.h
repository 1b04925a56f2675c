// SPDX-License-Identifier: Apache-2.0
// A line of results.jsonl on its way back: of a shard, of a batch that goes on, or of a baseline. Such a file may come
// from another machine, and may hold anything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "driver/batch/batch.h"

namespace stowage {

/// A job with its result, as far as a line tells of them.
struct StoredResult {
  Job job;
  JobResult result;               ///< with the line as its `json`
  std::string version;            ///< of the Stowage that wrote it; "" where it does not say
  std::string model_hash;         ///< "" where the job failed before its model was read
  std::int64_t memory_bytes = 0;  ///< parameters and activations, of a job that has a plan
};

/// Throws what the JSON library does, or Damage.
StoredResult result_of(std::string_view line);

}  // namespace stowage
