// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/resume.h"

#include <filesystem>
#include <span>

#include <fmt/format.h>

#include "core/number_text.h"
#include "driver/files/output_folder.h"
#include "driver/text/listed.h"
#include "lowering/program/planned_cost.h"

namespace stowage {

namespace fs = std::filesystem;

namespace {

std::string first_few(std::vector<std::string> names) {
  constexpr std::size_t shown = 3;
  for (std::string& name : names) name = "'" + name + "'";
  if (names.size() <= shown) return listed(names);
  names.resize(shown);
  return fmt::format("{}, {}, {}, ...", names[0], names[1], names[2]);
}

}  // namespace

bool is_cut_short(const JobEnd& end, std::optional<double> search_seconds) {
  return end.out_of_time && (!search_seconds || *search_seconds > *end.out_of_time);
}

Result<KnownJobs> known_jobs(const std::vector<Job>& jobs, const std::vector<Identity>& identities,
                             const BatchJournal& journal, const fs::path& folder, Again again,
                             std::optional<double> search_seconds, Diagnostics& diagnostics) {
  KnownJobs known{std::vector<JobStart>(jobs.size()), std::vector<JobEnd>(jobs.size())};
  std::vector<JobStart>& starts = known.starts;
  std::vector<std::string> changed;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const JournalEntry* const entry = journal.find(jobs[i].name);
    starts[i].replace = again == Again::all || entry != nullptr;
    if (again == Again::all || entry == nullptr || entry->line_size == 0) continue;
    JobEnd end = journal.result(*entry);
    const bool is_done = end.state == JobState::done;
    std::error_code failure;
    if (is_done && !fs::exists(folder / jobs[i].name / folder_marker, failure)) continue;
    if (!is_done && again == Again::failed) continue;
    if (entry->identity == identities[i] && is_cut_short(end, search_seconds)) continue;
    if (entry->identity == identities[i]) {
      starts[i].kept = true;
      known.results[i] = std::move(end);
    } else if (is_done) {
      changed.push_back(jobs[i].name);
    }
  }
  if (changed.empty()) return known;
  SourceLocation location;
  location.file = folder.string();
  diagnostics.error(
      "job-changed", location,
      fmt::format("holds results of {} that had other keys or files then, or that another build of Stowage "
                  "ran: {}",
                  counted(changed.size(), "job"), first_few(changed)),
      "give --force to do everything anew, or choose another folder");
  return Failed{};
}

std::vector<Identity> identities_in_build(std::vector<Identity> identities) {
  for (Identity& identity : identities) {
    const std::string text = fmt::format("{} {} {}", text_of(identity), stowage_version(), build_id());
    identity = parse_identity(hash_of(std::as_bytes(std::span(text))));
  }
  return identities;
}

}  // namespace stowage
