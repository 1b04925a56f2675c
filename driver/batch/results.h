// SPDX-License-Identifier: Apache-2.0
// What a batch found, as tables and as a page that can be mailed.
#pragma once

#include <string>
#include <vector>

#include "driver/batch/baseline.h"
#include "driver/batch/batch.h"
#include "driver/report/table.h"

namespace stowage {

/// A row a job, in their order, with a column for every key that a sweep gave values. `results` belong to `jobs`.
PlanTable results_table(const std::vector<Job>& jobs, const std::vector<JobResult>& results);

/// The final table of the command.
std::string results_text(const std::vector<Job>& jobs, const std::vector<JobResult>& results);

/// What results.jsonl holds: a line for each job that has come to an end.
std::string results_lines(const std::vector<JobResult>& results);

/// For spreadsheets (RFC 4180). A comparison, which may be null, gives columns of its own, as in the page.
std::string results_csv(const std::vector<Job>& jobs, const std::vector<JobResult>& results,
                        const Comparison* comparison = nullptr);

/// A page that needs nothing else: the table, which sorts, and for every key that was swept over numbers the time
/// against its values, with the value in words from which on more gains nothing.
std::string results_page(const std::vector<Job>& jobs, const std::vector<JobResult>& results,
                         const std::string& command_line, const Comparison* comparison = nullptr);

}  // namespace stowage
