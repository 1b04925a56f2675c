// SPDX-License-Identifier: Apache-2.0
// How long jobs may take, roughly: what shards of a batch are balanced by.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/batch/batch.h"

namespace stowage {

/// Milliseconds on a usual machine, at least 1, by what a network has of operators, parameters and convolutions, by the
/// planner, and by whether it is run. Sample networks are not made for it; of a model the list of its nodes is read.
/// The same wherever the files are the same.
std::vector<std::int64_t> estimated_work(const std::vector<Job>& jobs);

}  // namespace stowage
