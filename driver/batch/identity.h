// SPDX-License-Identifier: Apache-2.0
// What a job is by contents: everything that its results depend on but the program that makes them.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "driver/batch/batch.h"

namespace stowage {

/// "xxh64:…" of each job's keys and of the bytes of the files that it reads; one that cannot be read counts as such,
/// for the job will say so. Nothing when stopped.
Result<std::vector<std::string>> identities_of(const std::vector<Job>& jobs, const std::stop_token& stop);

/// "xxh64:…" of a job's keys alone, whatever is in the files that they name.
std::string keys_hash(const Job& job);

}  // namespace stowage
