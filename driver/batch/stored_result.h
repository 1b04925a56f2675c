// SPDX-License-Identifier: Apache-2.0
// A line of results.jsonl on its way back.
#pragma once

#include <string>

#include "driver/batch/batch.h"

namespace stowage {

/// A job with its result, as far as tables and pages of results tell of them.
struct StoredResult {
  Job job;
  JobResult result;  ///< with the line as its `json`
};

/// Throws what the JSON library does, or std::invalid_argument.
StoredResult result_of(const std::string& line);

}  // namespace stowage
