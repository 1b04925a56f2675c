// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/results.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "core/number_text.h"
#include "core/quoting.h"
#include "driver/drawing/sweep_chart.h"
#include "driver/page/page_parts.h"
#include "driver/page/scene_svg.h"
#include "driver/report/table_text.h"
#include "driver/session/session.h"
#include "report_page_text.h"

namespace stowage {

namespace {

using Kind = ColumnKind;

Column keyed(std::string key, std::string title, Kind kind, std::string tip) {
  Column column{std::move(title), kind, std::move(tip)};
  column.key = std::move(key);
  return column;
}

/// Every key that any of the jobs was swept over, in the order in which they come.
std::vector<std::string> swept_keys(const std::vector<Job>& jobs) {
  std::vector<std::string> keys;
  for (const Job& job : jobs) {
    for (const SweptValue& swept : job.swept) {
      if (std::find(keys.begin(), keys.end(), swept.key) == keys.end()) keys.push_back(swept.key);
    }
  }
  return keys;
}

const SweptValue* swept_value(const Job& job, const std::string& key) {
  const auto found =
      std::find_if(job.swept.begin(), job.swept.end(), [&](const SweptValue& swept) { return swept.key == key; });
  return found != job.swept.end() ? &*found : nullptr;
}

std::string value_text(const SweptValue& swept) {
  const auto* const text = std::get_if<std::string>(&swept.value.is);
  return text != nullptr ? *text : swept.toml;
}

std::optional<double> number_of(const SweptValue& swept) {
  if (const auto* whole = std::get_if<std::int64_t>(&swept.value.is)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&swept.value.is)) return *number;
  return std::nullopt;
}

/// Keys of the job itself have columns of their own.
bool has_column(const std::string& key) {
  return key == "network" || key == "model" || key == "target" || key == "fusion" || key == "planner";
}

/// The jobs of a line have this in common: what they compile and the other swept values.
std::string line_name(const Job& job, const std::string& key) {
  std::string name = source_of(job);
  for (const SweptValue& other : job.swept) {
    if (other.key != key && other.key != "network" && other.key != "model") name += ", " + value_text(other);
  }
  return name;
}

/// Jobs that differ in one key only, a line for all that have the rest in common, in the order of the jobs.
std::vector<drawing::SweepLine> lines_over(const std::string& key, const std::vector<Job>& jobs,
                                           const std::vector<JobResult>& results) {
  std::vector<drawing::SweepLine> lines;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const SweptValue* const swept = swept_value(jobs[i], key);
    const auto value = swept != nullptr ? number_of(*swept) : std::nullopt;
    if (!value || !results[i].totals) continue;
    const std::string name = line_name(jobs[i], key);
    const auto [place, is_new] = places.emplace(name, lines.size());
    if (is_new) lines.push_back({name, {}});
    const ProgramTotals& totals = *results[i].totals;
    lines[place->second].points.push_back(
        {*value, totals.cycles,
         fmt::format("{}\n{} = {}\n{} cycles, {} of DMA, {}", name, key, swept->toml, grouped_digits(totals.cycles),
                     bytes_text(totals.dma.bytes), counted(totals.groups, "fused operator"))});
  }
  for (drawing::SweepLine& line : lines) {
    std::stable_sort(line.points.begin(), line.points.end(),
                     [](const auto& a, const auto& b) { return a.value < b.value; });
  }
  std::erase_if(lines, [](const drawing::SweepLine& line) { return line.points.size() < 2; });
  return lines;
}

/// What a line says: where it is lowest, and from where on it falls no more.
std::string knee_text(const std::string& key, const drawing::SweepLine& line) {
  const auto& points = line.points;
  const auto fewer = [](const auto& a, const auto& b) { return a.cycles < b.cycles; };
  const auto best = std::min_element(points.begin(), points.end(), fewer);
  const auto worst = std::max_element(points.begin(), points.end(), fewer);
  const double gain = 1 - static_cast<double>(best->cycles) / static_cast<double>(worst->cycles);
  if (gain < drawing::least_gain) return fmt::format("{}: {} hardly matters.", line.name, key);
  const std::string text = fmt::format("{}: fastest at {:.10g}, in {:.1f} % less time than at {:.10g}", line.name,
                                       best->value, 100 * gain, worst->value);
  const drawing::SweepPoint& knee = points[drawing::knee_of(line)];
  if (knee.value >= best->value) return text + ".";
  return text + fmt::format("; from {:.10g} on more gains less than 1 %.", knee.value);
}

std::string sweep_part(const std::string& key, const std::vector<Job>& jobs, const std::vector<JobResult>& results) {
  const std::vector<drawing::SweepLine> lines = lines_over(key, jobs, results);
  if (lines.empty()) return "";
  constexpr double chart_width = 1000;
  std::string html = fmt::format("<h2>Time against {}</h2>\n", escaped(key));
  for (std::size_t first = 0; first < lines.size(); first += drawing::max_sweep_lines) {
    const std::size_t count = std::min(drawing::max_sweep_lines, lines.size() - first);
    const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<drawing::SweepLine> part(begin, begin + static_cast<std::ptrdiff_t>(count));
    html += "<figure>" + to_svg(drawing::sweep_chart(key, part, page_sheet(chart_width, 360))) + "</figure>\n";
  }
  html += "<ul>\n";
  for (const drawing::SweepLine& line : lines) html += fmt::format("<li>{}</li>\n", escaped(knee_text(key, line)));
  return html + "</ul>\n";
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
                         const std::string& command_line, const Comparison* comparison) {
  PlanTable table = results_table(jobs, results);
  std::set<std::string_view> worse;
  if (comparison != nullptr) {
    add_columns(table, *comparison);
    for (const JobComparison& job : comparison->jobs) {
      if (job.is_worse()) worse.insert(job.job);
    }
  }
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>Batch - Stowage</title>\n<style>\n{}</style>\n"
      "</head>\n<body>\n<h1>Batch</h1>\n<p>{}.</p>\n<p class=\"origin\"><code>stowage {} | {}</code></p>\n",
      report_page_text("style.css"), escaped(counts_text(results)), escaped(stowage_version()), escaped(command_line));
  if (comparison != nullptr) html += comparison_html(*comparison);
  for (const std::string& key : swept_keys(jobs)) html += sweep_part(key, jobs, results);
  html += "<h2>Jobs</h2>\n<div class=\"scroll\"><table class=\"sortable\"><thead><tr>";
  for (const Column& column : table.columns) html += html_heading(column);
  html += "</tr></thead>\n<tbody>\n";
  constexpr std::size_t max_full_rows = 2000;
  const bool is_brief = table.rows.size() > max_full_rows;
  const CellForm form = is_brief ? CellForm::brief : CellForm::full;
  for (const PlanRow& row : table.rows) {
    const std::string_view in_red = worse.contains(row.name) ? "refused" : "";
    html += is_brief         ? fmt::format("<tr class=\"brief {}\">", in_red)
            : in_red.empty() ? "<tr>"
                             : fmt::format("<tr class=\"{}\">", in_red);
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      html += html_cell(row.cells[c], table.columns[c], form);
    }
    html += "</tr>\n";
  }
  return html + fmt::format("</tbody></table></div>\n<script>\n{}</script>\n</body>\n</html>\n",
                            report_page_text("script.js"));
}

}  // namespace stowage
