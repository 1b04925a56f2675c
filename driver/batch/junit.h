// SPDX-License-Identifier: Apache-2.0
// What a batch found in the XML that systems for continuous integration read (JUnit's), a test case a job.
#pragma once

#include <string>
#include <vector>

#include "driver/batch/baseline.h"
#include "driver/batch/batch.h"

namespace stowage {

/// A job is red where it makes the exit code other than 0: one that fails, that hit a fault or was interrupted, and
/// beside a baseline (may be null) a regression. One that failed in the baseline too is skipped, with its reason, as is
/// one that only the baseline has. `suite` is the batch's name. There is no time in it: results of the same batch are
/// the same bytes.
std::string junit_xml(const std::string& suite, const std::vector<JobResult>& results, const Comparison* comparison);

}  // namespace stowage
