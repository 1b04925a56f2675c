// SPDX-License-Identifier: Apache-2.0
// One job of a batch, run in this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/hidden_temporary.h"
#include "driver/batch/batch.h"
#include "driver/json/json_forward.h"

namespace stowage {

/// Sees to it that a job's sample network is there. Its path; nothing after a reported error or when stopped.
using NetworkStep =
    std::function<Result<std::string>(const Job& job, Diagnostics& diagnostics, const std::stop_token& stop)>;

/// Compiles, writes and checks a job. Whatever goes wrong becomes its result.
JobResult run_job(const Job& job, const JobConditions& conditions, bool replace, const NetworkStep& network,
                  const std::stop_token& stop);

/// The result of a job that did not come so far. `folder` is the batch's.
JobResult result_without_run(const Job& job, JobState state, Diagnostics diagnostics,
                             const std::filesystem::path& folder);

/// Writes a job's sample network to network_path().
Result<std::string> write_job_network(const Job& job, const std::filesystem::path& folder, Existing existing,
                                      Diagnostics& diagnostics, const std::stop_token& stop);

/// The values that a sweep gave it, by their keys.
Json swept_json(const Job& job);

}  // namespace stowage
