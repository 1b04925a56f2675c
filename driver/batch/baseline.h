// SPDX-License-Identifier: Apache-2.0
// A batch beside an earlier one: what got slower, larger, fails or works now. All is read from the lines of
// results.jsonl, of the baseline as of this batch; what was planned otherwise is told by driver/diff where the plans of
// both are still there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "driver/batch/batch.h"
#include "driver/batch/result_rows.h"
#include "driver/json/json_forward.h"
#include "driver/report/table.h"

namespace stowage {

struct Baseline {
  std::string file;
  std::vector<ResultRow> rows;
};
/// Of a folder, its results.jsonl. Says what is to be known of it: another version wrote it, or it knows other jobs
/// than those of the batch (codes: baseline-version, baseline-jobs-gone, baseline-jobs-new, nothing-compared).
Result<Baseline> load_baseline(const std::string& path, const std::vector<std::string>& jobs, Diagnostics& diagnostics);

/// What became of a job, the worst first. One without any is as before.
enum class Mark : std::uint8_t {
  failing,        ///< was done
  slower,         ///< more time
  larger,         ///< more DMA bytes, main memory or, unless it is faster, LDM
  gone,           ///< not in the batch
  not_compared,   ///< interrupted now or then
  still_failing,  ///< and did in the baseline
  is_new,         ///< not in the baseline
  working,        ///< failed in the baseline
  faster,
  smaller  ///< less DMA bytes or main memory
};
std::string_view name_of(Mark mark);
bool is_regression(Mark mark);

struct JobComparison {
  std::string job;
  std::vector<Mark> marks;
  JobState state = JobState::interrupted;  ///< now
  std::optional<ResultNumbers> before = {};
  std::optional<ResultNumbers> after = {};
  std::string remark = {};   ///< what went wrong, and what else was compiled than then
  std::string verdict = {};  ///< of the numbers, or of `stowage diff`

  [[nodiscard]] bool has(Mark mark) const;
  [[nodiscard]] bool is_worse() const;  ///< some mark is a regression
};

struct Comparison {
  std::string file;  ///< of the baseline
  double tolerance = 0;
  bool has_plans = true;            ///< the plans of all that changed were still there
  std::vector<JobComparison> jobs;  ///< in the order of the batch, then what is gone
};

/// 2: the search of a plan may pass over one that is so much better (docs/searched.md).
inline constexpr double usual_tolerance = 2;

/// `rows` of the jobs that were run, `jobs` the names of all that the batch has. A number that grew or shrank by more
/// than `tolerance` per cent is marked; verdicts tell the numbers.
Comparison compared(const Baseline& baseline, const std::vector<ResultRow>& rows, const std::vector<std::string>& jobs,
                    double tolerance);

/// Where a job's plan is now.
using PlanFolder = std::function<std::filesystem::path(const std::string& job)>;
/// Where numbers differ and both plans are at their places (then NAME beside the baseline), the verdict becomes that of
/// `stowage diff`. So many are read side by side.
void add_plan_verdicts(Comparison& comparison, const PlanFolder& plan_folder, int threads, const Backends& backends,
                       const std::stop_token& stop);

bool has_regressed(const Comparison& comparison);
/// A job fails, and the baseline does not say that it always did.
bool has_new_failure(const Comparison& comparison);

// In words (baseline_text.cpp).

/// "slower, larger"; "" of a job that is as before.
std::string marks_text(const JobComparison& job);
/// Its remark and its verdict.
std::string words_of(const JobComparison& job);
/// "1 failing, 2 slower, 5 as before"; a job with several marks counts for each.
std::string counts_text(const Comparison& comparison);
/// The jobs that are not as before, the worst first, and how many are.
std::string comparison_text(const Comparison& comparison);
Json to_json(const Comparison& comparison);
/// What a table with a row a job gets besides: the columns change, time_change and verdict.
class ComparedCells {
 public:
  /// Must not outlive the comparison.
  explicit ComparedCells(const Comparison& comparison);
  static void add_columns(std::vector<Column>& columns);
  /// To a row that is named like its job.
  void add_to(PlanRow& row) const;

 private:
  std::map<std::string_view, const JobComparison*> jobs_;
};
/// What the page says above the table: beside what, the counts, and which jobs are gone.
std::string comparison_html(const Comparison& comparison);

}  // namespace stowage
