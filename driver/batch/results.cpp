// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/results.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/number_text.h"
#include "core/quoting.h"
#include "driver/page/page_parts.h"
#include "driver/report/table_text.h"
#include "driver/session/session.h"
#include "driver/text/url_text.h"

namespace stowage {

namespace {

using Kind = ColumnKind;

/// Keys of the job itself have columns of their own.
bool has_column(const std::string& key) {
  return key == "network" || key == "model" || key == "target" || key == "fusion" || key == "planner";
}

/// For the keys over which a job is on the front, a column; none where no job is on any.
void add_fronts(PlanTable& table, const std::vector<Job>& jobs, const std::vector<JobResult>& results) {
  std::vector<std::string> fronts(jobs.size());
  bool any = false;
  for (const std::string& key : swept_keys(jobs)) {
    for (const std::size_t job : pareto_front(key, jobs, results)) {
      fronts[job] += (fronts[job].empty() ? "" : ", ") + key;
      any = true;
    }
  }
  if (!any) return;
  table.columns.push_back(keyed("front", "on the front of", Kind::text,
                                "keys of which no job of the network takes less time with as little, or less with as "
                                "little time"));
  for (std::size_t i = 0; i < jobs.size(); ++i) table.rows[i].cells.emplace_back(fronts[i]);
}

/// The cell of a job's name; of one that has a plan a link to its report.
std::string name_cell(const JobResult& result) {
  if (!result.totals) return fmt::format("<td>{}</td>", escaped(result.name));
  return fmt::format("<td><a href=\"./{}/report.md\">{}</a></td>", url_segment(result.name), escaped(result.name));
}

std::string counts_text(const std::vector<JobResult>& results) {
  std::map<JobState, std::size_t> counts;
  for (const JobResult& result : results) ++counts[result.state];
  std::string text = counted(results.size(), "job");
  for (const auto& [state, count] : counts) text += fmt::format(", {} {}", count, name_of(state));
  return text;
}

}  // namespace

PlanTable results_table(const std::vector<Job>& jobs, const std::vector<JobResult>& results) {
  PlanTable table;
  table.title = "Jobs";
  table.columns = {
      keyed("job", "job", Kind::text, "name, also of its folder"),
      keyed("status", "state", Kind::text, "done, failed, fault (ours) or interrupted"),
      keyed("network", "network", Kind::text, "sample network or model"),
      keyed("target", "target", Kind::text, "machine"),
      keyed("fusion", "fusion", Kind::text, "strategy that chose the fused operators"),
      keyed("planner", "planner", Kind::text, "planner of each of them"),
  };
  std::vector<std::string> keys = swept_keys(jobs);
  std::erase_if(keys, has_column);
  for (const std::string& key : keys) table.columns.push_back(keyed(key, key, Kind::text, "value of the sweep"));
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
    table.columns.push_back(std::move(column));
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = jobs[i];
    const JobResult& result = results[i];
    PlanRow row;
    row.name = job.name;
    row.cells = {job.name,           std::string(name_of(result.state)),
                 source_of(job),     job.request.target,
                 job.request.fusion, job.request.planner};
    for (const std::string& key : keys) {
      const SweptValue* const swept = swept_value(job, key);
      row.cells.emplace_back(swept != nullptr ? value_text(*swept) : "");
    }
    if (result.totals) {
      const ProgramTotals& totals = *result.totals;
      row.cells.insert(row.cells.end(),
                       {static_cast<std::int64_t>(totals.groups), static_cast<std::int64_t>(totals.kernels),
                        totals.dma.transfers, totals.dma.bytes, totals.ldm_peak_bytes, totals.cycles, totals.seconds});
    } else {
      row.cells.resize(row.cells.size() + 7);
    }
    row.cells.emplace_back(result.summary);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string results_text(const std::vector<Job>& jobs, const std::vector<JobResult>& results) {
  return report_table(results_table(jobs, results),
                      {"job", "status", "groups", "dma_bytes", "ldm_peak_bytes", "cycles", "time_s", "summary"})
      .text();
}

std::string results_lines(const std::vector<JobResult>& results) {
  std::string lines;
  for (const JobResult& result : results) {
    if (!result.json.empty()) lines += result.json + "\n";
  }
  return lines;
}

std::string results_csv(const std::vector<Job>& jobs, const std::vector<JobResult>& results,
                        const Comparison* comparison) {
  PlanTable table = results_table(jobs, results);
  if (comparison != nullptr) add_columns(table, *comparison);
  std::vector<std::string_view> keys;
  for (const Column& column : table.columns) keys.emplace_back(column.key);
  return csv_text(table, keys);
}

std::string results_page(const std::vector<Job>& jobs, const std::vector<JobResult>& results,
                         const std::string& command_line, const KneeWords& words, const Comparison* comparison) {
  PlanTable table = results_table(jobs, results);
  add_fronts(table, jobs, results);
  std::set<std::string_view> worse;
  if (comparison != nullptr) {
    add_columns(table, *comparison);
    for (const JobComparison& job : comparison->jobs) {
      if (job.is_worse()) worse.insert(job.job);
    }
  }
  std::string html = html_head("Batch") +
                     fmt::format("<h1>Batch</h1>\n<p>{}.</p>\n<p class=\"origin\"><code>stowage {} | {}</code></p>\n",
                                 escaped(counts_text(results)), escaped(stowage_version()), escaped(command_line));
  if (comparison != nullptr) html += comparison_html(*comparison);
  for (const std::string& key : swept_keys(jobs)) html += sweep_part(key, jobs, results, words);
  html +=
      "<h2>Jobs</h2>\n<p class=\"controls\" hidden><input id=\"filter-rows\" type=\"search\" size=\"40\" "
      "placeholder=\"words that a row has, -word: has not\" aria-label=\"filter the jobs\"/> "
      "<output id=\"rows-shown\"></output></p>\n"
      "<div class=\"scroll\"><table class=\"sortable filtered\"><thead><tr>";
  for (const Column& column : table.columns) html += html_heading(column);
  html += "</tr></thead>\n<tbody>\n";
  constexpr std::size_t max_full_rows = 2000;
  const bool is_brief = table.rows.size() > max_full_rows;
  const CellForm form = is_brief ? CellForm::brief : CellForm::full;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const PlanRow& row = table.rows[i];
    const std::string_view in_red = worse.contains(row.name) ? "refused" : "";
    html += is_brief         ? fmt::format("<tr class=\"brief {}\">", in_red)
            : in_red.empty() ? "<tr>"
                             : fmt::format("<tr class=\"{}\">", in_red);
    html += name_cell(results[i]);
    for (std::size_t c = 1; c < table.columns.size(); ++c) {
      html += html_cell(row.cells[c], table.columns[c], form);
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n" + html_foot();
}

}  // namespace stowage
