// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/baseline.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "core/parallel.h"
#include "core/quoting.h"
#include "driver/diff/plan_diff.h"
#include "driver/files/files.h"
#include "driver/store/plan_file.h"
#include "driver/text/listed.h"

namespace stowage {

namespace {

namespace fs = std::filesystem;

/// Names beyond these are counted instead of listed.
constexpr std::size_t max_names = 5;

/// "a, b and 3 more".
std::string quoted_names(std::vector<std::string> names) {
  const std::size_t all = names.size();
  for (std::string& name : names) name = "'" + line_text(name) + "'";
  if (all > max_names) {
    names.resize(max_names);
    names.push_back(fmt::format("{} more", all - max_names));
  }
  return listed(names);
}

/// What another version computed may differ by its time model alone.
void tell_version(const Baseline& baseline, Diagnostics& diagnostics) {
  std::set<std::string> others;
  for (const ResultRow& row : baseline.rows) {
    if (row.origin->version != stowage_version()) others.insert(row.origin->version);
  }
  if (others.empty()) return;
  std::vector<std::string> names;
  for (const std::string& version : others) {
    names.push_back(version.empty() ? "an older version, which did not give its number" : "stowage " + version);
  }
  diagnostics.warning("baseline-version", place_of(baseline.file),
                      fmt::format("'{}' was written by {}, this is stowage {}: where the time model is another one, "
                                  "numbers differ of plans that are the same",
                                  baseline.file, listed(names), stowage_version()));
}

/// Results do not tell what a learned evaluator was made of.
void tell_learned(const Baseline& baseline, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const ResultRow& row : baseline.rows) {
    const auto is_learned = [](const auto& entry) { return entry.first == "cost" && entry.second == "learned"; };
    if (std::any_of(row.origin->given.begin(), row.origin->given.end(), is_learned)) names.push_back(row.job);
  }
  if (names.empty()) return;
  diagnostics.warning("baseline-cost-model", place_of(baseline.file),
                      fmt::format("groups of {} were compared by what train-cost has learned, and results do not tell "
                                  "from which file: with another one the groups may be others",
                                  quoted_names(std::move(names))));
}

/// Which jobs only one of both has. False if they have none in common.
bool tell_jobs(const Baseline& baseline, const std::vector<std::string>& jobs, Diagnostics& diagnostics) {
  std::set<std::string> before;
  for (const ResultRow& row : baseline.rows) before.insert(row.job);
  const std::set<std::string> now(jobs.begin(), jobs.end());
  std::vector<std::string> gone;
  std::vector<std::string> added;
  std::set_difference(before.begin(), before.end(), now.begin(), now.end(), std::back_inserter(gone));
  std::set_difference(now.begin(), now.end(), before.begin(), before.end(), std::back_inserter(added));
  if (gone.size() == before.size()) {
    diagnostics.error("nothing-compared", place_of(baseline.file),
                      before.empty() ? "the baseline has no job"
                                     : fmt::format("the baseline has no job of this batch, but {}", quoted_names(gone)),
                      "give the results of an earlier run of the same batch file");
    return false;
  }
  if (!gone.empty()) {
    diagnostics.warning("baseline-jobs-gone", place_of(baseline.file),
                        fmt::format("{} of the baseline {} not in the batch: {}", counted(gone.size(), "job"),
                                    for_number(gone.size(), "is", "are"), quoted_names(gone)));
  }
  if (!added.empty()) {
    diagnostics.warning("baseline-jobs-new", place_of(baseline.file),
                        fmt::format("{} of the batch {} not in the baseline '{}': {}", counted(added.size(), "job"),
                                    for_number(added.size(), "is", "are"), baseline.file, quoted_names(added)));
  }
  return true;
}

bool is_bad(JobState state) { return state == JobState::failed || state == JobState::fault; }

/// Per cent of what it was.
template <class Number>
double growth(Number before, Number after) {
  if (before == after) return 0;
  return (static_cast<double>(after) - static_cast<double>(before)) * 100 / static_cast<double>(before);
}

std::vector<Mark> marks_of(const ResultNumbers& before, const ResultNumbers& after, double tolerance) {
  const double time = growth(before.seconds, after.seconds);
  const double ldm = growth(before.ldm_bytes, after.ldm_bytes);
  const auto [least, most] =
      std::minmax({growth(before.dma_bytes, after.dma_bytes), growth(before.memory_bytes, after.memory_bytes)});
  const bool is_faster = time < -tolerance;
  std::vector<Mark> marks;
  if (time > tolerance) marks.push_back(Mark::slower);
  // LDM is there to be used: less of it is no gain, and more of it for less time no loss.
  if (most > tolerance || (ldm > tolerance && !is_faster)) marks.push_back(Mark::larger);
  if (is_faster) marks.push_back(Mark::faster);
  if (least < -tolerance) marks.push_back(Mark::smaller);
  return marks;
}

/// "planner searched instead of swtvm", "another model file": what is no doing of the compiler.
std::vector<std::string> other_input(const ResultRow& before, const ResultRow& after) {
  std::vector<std::string> words;
  const auto& given = after.origin->given;
  for (const auto& [key, was] : before.origin->given) {
    const auto same_key = [&, &name = key](const auto& entry) { return entry.first == name; };
    const std::string& is = std::find_if(given.begin(), given.end(), same_key)->second;
    const bool is_model = key == "model_hash";
    // The model's hash comes behind what the row has of the sweep.
    if (is_model && before.swept != after.swept) words.emplace_back("other swept values");
    // One that failed before its model was read does not know it.
    if (is == was || (is_model && (is.empty() || was.empty()))) continue;
    words.push_back(is_model ? "another model file" : fmt::format("{} {} instead of {}", key, is, was));
  }
  return words;
}

std::string numbers_verdict(const ResultNumbers& before, const ResultNumbers& after) {
  if (before == after) return "the same numbers";
  std::string text = fmt::format("now is {}", speed_text(before.seconds, after.seconds));
  if (const std::int64_t more = after.groups - before.groups; more != 0) {
    text += fmt::format("; {} {}", counted(std::abs(more), "group"), more < 0 ? "fewer" : "more");
  }
  return text;
}

JobComparison compared(const ResultRow& before, const ResultRow& after, double tolerance) {
  JobComparison job{after.job, {}, after.state, before.numbers, after.numbers};
  if (before.state == JobState::interrupted || after.state == JobState::interrupted) {
    job.marks = {Mark::not_compared};
    job.remark = after.state == JobState::interrupted ? "interrupted" : "the baseline was interrupted here";
    return job;
  }
  std::vector<std::string> remarks = other_input(before, after);
  if (is_bad(after.state)) {
    remarks.push_back(after.summary);
    if (is_bad(before.state) && before.summary != after.summary) remarks.push_back("then: " + before.summary);
    job.marks.push_back(is_bad(before.state) ? Mark::still_failing : Mark::failing);
  } else if (is_bad(before.state)) {
    remarks.push_back("then: " + before.summary);
    job.marks.push_back(Mark::working);
  }
  job.remark = fmt::format("{}", fmt::join(remarks, "; "));
  if (before.numbers && after.numbers) {
    for (const Mark mark : marks_of(*before.numbers, *after.numbers, tolerance)) job.marks.push_back(mark);
    std::sort(job.marks.begin(), job.marks.end());
    job.verdict = numbers_verdict(*before.numbers, *after.numbers);
  }
  return job;
}

/// The plan of that folder, if it has these numbers: another run may have replaced it since. What cannot be read has
/// no plan to compare; that costs a better verdict, not the results of a batch.
std::optional<Compilation> plan_with(const ResultNumbers& numbers, const fs::path& folder, const Backends& backends,
                                     const std::stop_token& stop) {
  std::error_code failure;
  if (!fs::is_directory(folder, failure)) return std::nullopt;
  try {
    Diagnostics unsaid;
    auto plan = read_compilation(folder, unsaid, stop, backends);
    if (!plan) return std::nullopt;
    const ProgramTotals totals = totals_of(plan->program);
    if (totals.cycles != numbers.cycles || totals.dma.bytes != numbers.dma_bytes) return std::nullopt;
    return std::move(*plan);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

Result<Baseline> load_baseline(const std::string& path, const std::vector<std::string>& jobs,
                               Diagnostics& diagnostics) {
  Baseline baseline;
  std::error_code failure;
  baseline.file = fs::is_directory(path, failure) ? (fs::path(path) / results_name).string() : path;
  ResultReader reader(baseline.file, diagnostics);
  const auto take = [&](std::string_view line, bool has_break) { reader.take(line, has_break); };
  if (!read_lines(baseline.file, take, diagnostics)) return Failed{};
  auto rows = std::move(reader).rows();
  if (!rows) return Failed{};
  baseline.rows = std::move(*rows);
  tell_version(baseline, diagnostics);
  tell_learned(baseline, diagnostics);
  if (!tell_jobs(baseline, jobs, diagnostics)) return Failed{};
  return baseline;
}

bool is_regression(Mark mark) { return mark == Mark::failing || mark == Mark::slower || mark == Mark::larger; }

bool JobComparison::has(Mark mark) const { return std::find(marks.begin(), marks.end(), mark) != marks.end(); }

bool JobComparison::is_worse() const { return std::any_of(marks.begin(), marks.end(), is_regression); }

Comparison compared(const Baseline& baseline, const std::vector<ResultRow>& rows, const std::vector<std::string>& jobs,
                    double tolerance) {
  Comparison comparison;
  comparison.file = baseline.file;
  comparison.tolerance = tolerance;
  std::map<std::string_view, const ResultRow*> before;
  for (const ResultRow& row : baseline.rows) before.emplace(row.job, &row);
  for (const ResultRow& row : rows) {
    if (const auto found = before.find(row.job); found != before.end()) {
      comparison.jobs.push_back(compared(*found->second, row, tolerance));
      continue;
    }
    JobComparison job{row.job, {Mark::is_new}, row.state, std::nullopt, row.numbers};
    if (is_bad(row.state)) job.remark = row.summary;
    comparison.jobs.push_back(std::move(job));
  }
  const std::set<std::string_view> known(jobs.begin(), jobs.end());
  for (const ResultRow& row : baseline.rows) {
    if (known.contains(row.job)) continue;
    comparison.jobs.push_back({row.job, {Mark::gone}, row.state, row.numbers, std::nullopt});
  }
  return comparison;
}

void add_plan_verdicts(Comparison& comparison, const PlanFolder& plan_folder, int threads, const Backends& backends,
                       const std::stop_token& stop) {
  const fs::path old = fs::path(comparison.file).parent_path();
  std::atomic<bool> has_all = true;
  parallel_for(comparison.jobs.size(), static_cast<unsigned>(threads), stop, [&](std::size_t i) {
    JobComparison& job = comparison.jobs[i];
    if (!job.before || !job.after || *job.before == *job.after || job.has(Mark::not_compared)) return;
    const auto before = plan_with(*job.before, old / job.job, backends, stop);
    const auto after = before ? plan_with(*job.after, plan_folder(job.job), backends, stop) : std::nullopt;
    if (after) {
      job.verdict = verdict(diff_compilations(*before, *after), "then", "now");
    } else {
      has_all = false;
    }
  });
  comparison.has_plans = has_all;
}

bool has_regressed(const Comparison& comparison) {
  return std::any_of(comparison.jobs.begin(), comparison.jobs.end(),
                     [](const JobComparison& job) { return job.is_worse(); });
}

bool has_new_failure(const Comparison& comparison) {
  return std::any_of(comparison.jobs.begin(), comparison.jobs.end(), [](const JobComparison& job) {
    return is_bad(job.state) && !job.has(Mark::gone) && !job.has(Mark::still_failing);
  });
}

}  // namespace stowage
