// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/results.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "core/number_text.h"
#include "core/quoting.h"
#include "driver/page/page_parts.h"
#include "driver/report/table_text.h"
#include "driver/session/session.h"
#include "driver/text/text_table.h"
#include "driver/text/url_text.h"

namespace stowage {

namespace {

using Kind = ColumnKind;

/// Keys of the job itself have columns of their own.
bool has_column(const std::string& key) {
  return key == "network" || key == "model" || key == "target" || key == "fusion" || key == "planner";
}

/// The cell of a job's name; of one that has a plan a link to its report.
std::string name_cell(const Job& job, const JobEnd& end) {
  if (!end.totals) return fmt::format("<td>{}</td>", escaped(job.name));
  return fmt::format("<td><a href=\"./{}/report.md\">{}</a></td>", url_segment(job.name), escaped(job.name));
}

std::string counts_text(const std::vector<JobEnd>& results) {
  std::map<JobState, std::size_t> counts;
  for (const JobEnd& result : results) ++counts[result.state];
  std::string text = counted(results.size(), "job");
  for (const auto& [state, count] : counts) text += fmt::format(", {} {}", count, name_of(state));
  return text;
}

}  // namespace

ResultRows::ResultRows(const ResultsView& view, FrontColumn fronts) : jobs_(&view.jobs), results_(&view.results) {
  columns_ = {
      keyed("job", "job", Kind::text, "name, also of its folder"),
      keyed("status", "state", Kind::text, "done, failed, fault (ours) or interrupted"),
      keyed("network", "network", Kind::text, "sample network or model"),
      keyed("target", "target", Kind::text, "machine"),
      keyed("fusion", "fusion", Kind::text, "strategy that chose the fused operators"),
      keyed("planner", "planner", Kind::text, "planner of each of them"),
  };
  keys_ = swept_keys(view.jobs);
  std::erase_if(keys_, has_column);
  for (const std::string& key : keys_) columns_.push_back(keyed(key, key, Kind::text, "value of the sweep"));
  for (Column& column : std::vector<Column>{
           keyed("groups", "groups", Kind::count, "fused operators"),
           keyed("kernels", "kernels", Kind::count, "those of them that are launched"),
           keyed("dma_transfers", "transfers", Kind::count, "fillings and emptyings of LDM buffers, all cores"),
           keyed("dma_bytes", "DMA bytes", Kind::bytes, "moved between main memory and LDM, all cores"),
           keyed("ldm_peak_bytes", "LDM", Kind::bytes, "peak of one core's scratchpad"),
           keyed("cycles", "cycles", Kind::cycles, "predicted"),
           keyed("time_s", "time", Kind::seconds, "predicted"),
           keyed("summary", "result", Kind::text, "of the check, or the first thing that went wrong"),
       }) {
    columns_.push_back(std::move(column));
  }
  if (fronts == FrontColumn::shown) add_fronts();
  if (view.comparison == nullptr) return;
  compared_.emplace(*view.comparison);
  ComparedCells::add_columns(columns_);
}

void ResultRows::add_fronts() {
  std::vector<std::string> fronts(jobs_->size());
  bool any = false;
  for (const std::string& key : swept_keys(*jobs_)) {
    for (const std::size_t job : pareto_front(key, *jobs_, *results_)) {
      fronts[job] += (fronts[job].empty() ? "" : ", ") + key;
      any = true;
    }
  }
  if (!any) return;
  fronts_ = std::move(fronts);
  columns_.push_back(keyed("front", "on the front of", Kind::text,
                           "keys of which no job of the network takes less time with as little, or less with as little "
                           "time"));
}

PlanRow ResultRows::row(std::size_t i) const {
  const Job& job = (*jobs_)[i];
  const JobEnd& result = (*results_)[i];
  PlanRow row;
  row.name = job.name;
  row.cells = {job.name,
               std::string(name_of(result.state)),
               source_of(job),
               job.keys->request.target,
               job.keys->request.fusion,
               job.keys->request.planner};
  for (const std::string& key : keys_) {
    const TomlValue* const swept = job.swept.value(key);
    row.cells.emplace_back(swept != nullptr ? value_text(*swept) : "");
  }
  if (result.totals) {
    const JobTotals& totals = *result.totals;
    row.cells.insert(row.cells.end(), {totals.groups, totals.kernels, totals.dma_transfers, totals.dma_bytes,
                                       totals.ldm_peak_bytes, totals.cycles, totals.seconds});
  } else {
    row.cells.resize(row.cells.size() + 7);
  }
  row.cells.emplace_back(result.summary);
  if (!fronts_.empty()) row.cells.emplace_back(fronts_[i]);
  if (compared_) compared_->add_to(row);
  return row;
}

void results_text(const ResultsView& view, const TextSink& sink) {
  const ResultRows rows({view.jobs, view.results, {}}, FrontColumn::left_out);
  const std::vector<Column>& columns = rows.columns();
  std::vector<std::size_t> places = columns_by_key(
      columns, {"job", "status", "groups", "dma_bytes", "ldm_peak_bytes", "cycles", "time_s", "summary"});
  const auto has_summary = [](const JobEnd& result) { return !result.summary.empty(); };
  if (std::none_of(view.results.begin(), view.results.end(), has_summary)) places.pop_back();
  const auto cells_of = [&](std::size_t job) {
    const PlanRow row = rows.row(job);
    std::vector<std::string> cells;
    for (const std::size_t place : places) cells.push_back(report_cell(row.cells[place], columns[place]));
    return cells;
  };
  std::vector<std::string> headings;
  for (const std::size_t place : places) headings.push_back(report_heading(columns[place]));
  TextColumns lines(std::move(headings));
  for (std::size_t i = 0; i < view.jobs.size(); ++i) lines.fit(cells_of(i));
  sink(lines.head());
  for (std::size_t i = 0; i < view.jobs.size(); ++i) sink(lines.row(cells_of(i)));
}

void results_lines(const ResultsView& view, const TextSink& sink) {
  for (std::size_t i = 0; i < view.jobs.size(); ++i) {
    if (const std::string line = view.line(i); !line.empty()) sink(line + "\n");
  }
}

void results_csv(const ResultsView& view, const TextSink& sink) {
  const ResultRows rows(view, FrontColumn::left_out);
  std::vector<std::size_t> places(rows.columns().size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  sink(csv_heading(rows.columns(), places));
  for (std::size_t i = 0; i < view.jobs.size(); ++i) sink(csv_row(rows.row(i), rows.columns(), places));
}

void results_page(const ResultsView& view, const std::string& command_line, const KneeWords& words,
                  const TextSink& sink) {
  const auto& [jobs, results, line, comparison] = view;
  const ResultRows rows(view, FrontColumn::shown);
  std::set<std::string_view> worse;
  if (comparison != nullptr) {
    for (const JobComparison& job : comparison->jobs) {
      if (job.is_worse()) worse.insert(job.job);
    }
  }
  sink(html_head("Batch") +
       fmt::format("<h1>Batch</h1>\n<p>{}.</p>\n<p class=\"origin\"><code>stowage {} | {}</code></p>\n",
                   escaped(counts_text(results)), escaped(stowage_version()), escaped(command_line)));
  if (comparison != nullptr) sink(comparison_html(*comparison));
  for (const std::string& key : swept_keys(jobs)) sink(sweep_part(key, jobs, results, words));
  sink(
      "<h2>Jobs</h2>\n<p class=\"controls\" hidden><input id=\"filter-rows\" type=\"search\" size=\"40\" "
      "placeholder=\"words that a row has, -word: has not\" aria-label=\"filter the jobs\"/> "
      "<output id=\"rows-shown\"></output></p>\n"
      "<div class=\"scroll\"><table class=\"sortable filtered\"><thead><tr>");
  for (const Column& column : rows.columns()) sink(html_heading(column));
  sink("</tr></thead>\n<tbody>\n");
  constexpr std::size_t max_full_rows = 2000;
  const bool is_brief = jobs.size() > max_full_rows;
  const CellForm form = is_brief ? CellForm::brief : CellForm::full;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const PlanRow row = rows.row(i);
    const std::string_view in_red = worse.contains(row.name) ? "refused" : "";
    std::string html = is_brief         ? fmt::format("<tr class=\"brief {}\">", in_red)
                       : in_red.empty() ? "<tr>"
                                        : fmt::format("<tr class=\"{}\">", in_red);
    html += name_cell(jobs[i], results[i]);
    for (std::size_t c = 1; c < rows.columns().size(); ++c) {
      html += html_cell(row.cells[c], rows.columns()[c], form);
    }
    sink(html + "</tr>\n");
  }
  sink("</tbody></table></div>\n" + html_foot());
}

}  // namespace stowage
