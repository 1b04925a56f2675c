// SPDX-License-Identifier: Apache-2.0
// What of a batch has been done before, and stays.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/batch/identity.h"
#include "driver/batch/journal.h"

namespace stowage {

/// Whether a clock decided a result that had less time than it would have now.
bool is_cut_short(const JobEnd& end, std::optional<double> search_seconds);

/// Which of the jobs that came to their end are run once more.
enum class Again { none, failed, all };

/// By job.
struct KnownJobs {
  std::vector<JobStart> starts;
  std::vector<JobEnd> results;  ///< of those that stay
};
/// A job stays if it came to its end, is by contents what it was, and its plan is still there. One that failed and is
/// now another is run anew; one that is done and is now another is reported (job-changed). One that a time limit
/// decided is run anew where there is more time now.
Result<KnownJobs> known_jobs(const std::vector<Job>& jobs, const std::vector<Identity>& identities,
                             const BatchJournal& journal, const std::filesystem::path& folder, Again again,
                             std::optional<double> search_seconds, Diagnostics& diagnostics);

/// identities_of() jobs as this program runs them: another build may make other plans of them.
std::vector<Identity> identities_in_build(std::vector<Identity> identities);

}  // namespace stowage
