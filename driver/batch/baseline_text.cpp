// SPDX-License-Identifier: Apache-2.0
// A Comparison in words, tables and JSON.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "core/quoting.h"
#include "driver/batch/baseline.h"
#include "driver/diff/diff_words.h"
#include "driver/json/json.h"
#include "driver/text/text_table.h"

namespace stowage {

namespace {

constexpr std::ptrdiff_t behind_state = 2;  ///< place of a column

/// "+1.8 %"; small differences, which may be beyond a small tolerance, with the digits that show them.
std::string change_of(const JobComparison& job, std::int64_t ResultNumbers::*number) {
  if (!job.before || !job.after) return "";
  return percent_change_text(static_cast<double>((*job.before).*number), static_cast<double>((*job.after).*number));
}

Json numbers_json(const std::optional<ResultNumbers>& numbers) {
  if (!numbers) return nullptr;
  return {{"groups", numbers->groups},
          {"dma_bytes", numbers->dma_bytes},
          {"ldm_peak_bytes", numbers->ldm_bytes},
          {"memory_bytes", numbers->memory_bytes},
          {"cycles", numbers->cycles},
          {"time_s", numbers->seconds}};
}

}  // namespace

std::string_view name_of(Mark mark) {
  switch (mark) {
    case Mark::failing: return "failing";
    case Mark::slower: return "slower";
    case Mark::larger: return "larger";
    case Mark::gone: return "gone";
    case Mark::not_compared: return "not compared";
    case Mark::still_failing: return "still failing";
    case Mark::is_new: return "new";
    case Mark::working: return "newly working";
    case Mark::faster: return "faster";
    case Mark::smaller: return "smaller";
  }
  fail_check("unknown mark of a job");
}

std::string marks_text(const JobComparison& job) {
  std::vector<std::string_view> names;
  for (const Mark mark : job.marks) names.push_back(name_of(mark));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string words_of(const JobComparison& job) {
  return job.remark + (job.remark.empty() || job.verdict.empty() ? "" : "; ") + job.verdict;
}

std::string counts_text(const Comparison& comparison) {
  std::map<Mark, std::size_t> counts;
  std::size_t unmarked = 0;
  for (const JobComparison& job : comparison.jobs) {
    for (const Mark mark : job.marks) ++counts[mark];
    if (job.marks.empty()) ++unmarked;
  }
  std::string text;
  for (const auto& [mark, count] : counts) text += fmt::format("{} {}, ", count, name_of(mark));
  return text + fmt::format("{} as before", unmarked);
}

std::string comparison_text(const Comparison& comparison) {
  std::vector<const JobComparison*> told;
  for (const JobComparison& job : comparison.jobs) {
    if (!job.marks.empty()) told.push_back(&job);
  }
  std::stable_sort(told.begin(), told.end(),
                   [](const auto* a, const auto* b) { return a->marks.front() < b->marks.front(); });
  std::string text = fmt::format("against {}, tolerance {:g} %\n", comparison.file, comparison.tolerance);
  if (!told.empty()) {
    TextTable table({"job", "change", ">then", ">now", ">time", ">DMA bytes", ">LDM", ">memory"});
    std::string words;
    for (const JobComparison* job : told) {
      const auto time = [](const std::optional<ResultNumbers>& numbers) {
        return numbers ? seconds_text(numbers->seconds) : std::string();
      };
      const bool both = job->before && job->after;
      table.add({job->job, marks_text(*job), time(job->before), time(job->after),
                 both ? percent_change_text(job->before->seconds, job->after->seconds) : "",
                 change_of(*job, &ResultNumbers::dma_bytes), change_of(*job, &ResultNumbers::ldm_bytes),
                 change_of(*job, &ResultNumbers::memory_bytes)});
      if (!words_of(*job).empty()) words += line_text(fmt::format("{}: {}", job->job, words_of(*job))) + "\n";
    }
    text += "\n" + table.text();
    if (!words.empty()) text += "\n" + words;
  }
  text += "\n" + counts_text(comparison) + "\n";
  if (!comparison.has_plans) {
    text += "(where a verdict tells numbers only, the plan is not beside the baseline, or is not the one of its row)\n";
  }
  return text;
}

Json to_json(const Comparison& comparison) {
  Json json;
  json["file"] = comparison.file;
  json["tolerance"] = comparison.tolerance;
  json["regressed"] = has_regressed(comparison);
  json["jobs"] = Json::array();
  for (const JobComparison& job : comparison.jobs) {
    Json marks = Json::array();
    for (const Mark mark : job.marks) marks.push_back(name_of(mark));
    json["jobs"].push_back({{"job", job.job},
                            {"change", std::move(marks)},
                            {"then", numbers_json(job.before)},
                            {"now", numbers_json(job.after)},
                            {"remark", job.remark},
                            {"verdict", job.verdict}});
  }
  return json;
}

ComparedCells::ComparedCells(const Comparison& comparison) {
  for (const JobComparison& job : comparison.jobs) jobs_.emplace(job.job, &job);
}

void ComparedCells::add_columns(std::vector<Column>& columns) {
  Column change{"change", ColumnKind::text, "since the baseline"};
  change.key = "change";
  change.absent = "as before";
  Column time{"time change", ColumnKind::share_change, "of the predicted time"};
  time.key = "time_change";
  Column verdict{"verdict", ColumnKind::text, "what went wrong, what was given otherwise, and what diff says"};
  verdict.key = "verdict";
  columns.insert(columns.begin() + behind_state, {change, time});
  columns.push_back(verdict);
}

void ComparedCells::add_to(PlanRow& row) const {
  const auto found = jobs_.find(row.name);
  const JobComparison* const job = found != jobs_.end() ? found->second : nullptr;
  Cell changed;
  if (job != nullptr && job->before && job->after && job->before->seconds > 0) {
    changed = job->after->seconds / job->before->seconds - 1;
  }
  // One that was not begun has no row that could be compared.
  const std::string marks = job != nullptr ? marks_text(*job) : std::string(name_of(Mark::not_compared));
  row.cells.insert(row.cells.begin() + behind_state, {marks, changed});
  row.cells.emplace_back(job != nullptr ? words_of(*job) : "");
}

std::string comparison_html(const Comparison& comparison) {
  std::vector<std::string_view> gone;
  for (const JobComparison& job : comparison.jobs) {
    if (job.has(Mark::gone)) gone.emplace_back(job.job);
  }
  std::string html = fmt::format("<p>Beside <code>{}</code>, tolerance {:g} %: {}.</p>\n", escaped(comparison.file),
                                 comparison.tolerance, escaped(counts_text(comparison)));
  if (!gone.empty())
    html += fmt::format("<p>No longer in the batch: {}.</p>\n", escaped(fmt::format("{}", fmt::join(gone, ", "))));
  return html;
}

}  // namespace stowage
