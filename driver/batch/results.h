// SPDX-License-Identifier: Apache-2.0
// What a batch found, as tables and as a page that can be mailed.
#pragma once

#include <string>
#include <vector>

#include "driver/batch/baseline.h"
#include "driver/batch/batch.h"
#include "driver/batch/sweep_page.h"
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

/// A page that needs nothing else: the table, which sorts and is filtered and leads to the jobs' reports, and for every
/// key that was swept over numbers the time against its values, with the value in words from which on more gains
/// nothing, and which jobs are best of time and value together. `words` tell what plans do otherwise at knees.
std::string results_page(const std::vector<Job>& jobs, const std::vector<JobResult>& results,
                         const std::string& command_line, const KneeWords& words,
                         const Comparison* comparison = nullptr);

}  // namespace stowage
