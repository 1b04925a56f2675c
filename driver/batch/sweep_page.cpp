// SPDX-License-Identifier: Apache-2.0
#include "driver/batch/sweep_page.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/number_text.h"
#include "core/parallel.h"
#include "core/quoting.h"
#include "driver/batch/sweep_range.h"
#include "driver/diff/plan_diff.h"
#include "driver/drawing/sweep_chart.h"
#include "driver/page/scene_svg.h"
#include "driver/store/plan_file.h"

namespace stowage {

namespace {

constexpr double chart_width = 1000;
constexpr double chart_height = 360;

/// A line with the jobs of its points.
struct JobLine {
  drawing::SweepLine line;
  std::string network;
  std::vector<std::size_t> jobs;
};

/// What the jobs of a line have in common: what they compile and the other swept values.
std::string line_name(const Job& job, const std::string& key) {
  std::string name = source_of(job);
  for (const SweptValue& other : job.swept.values()) {
    if (other.key != key && other.key != "network" && other.key != "model") name += ", " + value_text(other.value);
  }
  return name;
}

std::optional<double> number_at(const Job& job, const std::string& key) {
  const TomlValue* const swept = job.swept.value(key);
  return swept != nullptr ? number_of(*swept) : std::nullopt;
}

/// What a point says where the mouse rests on it.
std::string tip_of(const std::string& line, const std::string& key, const Job& job, const JobTotals& totals) {
  return fmt::format("{}\n{} = {}\n{} cycles, {} of DMA, {}", line, key, value_text(*job.swept.value(key)),
                     grouped_digits(totals.cycles), bytes_text(totals.dma_bytes),
                     counted(totals.groups, "fused operator"));
}

/// Jobs that differ in one key only, a line for all that have the rest in common, in the order of the jobs.
std::vector<JobLine> lines_over(const std::string& key, const std::vector<Job>& jobs,
                                const std::vector<JobEnd>& results) {
  std::vector<JobLine> lines;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!number_at(jobs[i], key) || !results[i].totals) continue;
    const std::string name = line_name(jobs[i], key);
    const auto [place, is_new] = places.emplace(name, lines.size());
    if (is_new) lines.push_back({{name, {}}, source_of(jobs[i]), {}});
    lines[place->second].jobs.push_back(i);
  }
  std::erase_if(lines, [](const JobLine& line) { return line.jobs.size() < 2; });
  for (JobLine& line : lines) {
    std::stable_sort(line.jobs.begin(), line.jobs.end(), [&](std::size_t a, std::size_t b) {
      return number_at(jobs[a], key).value() < number_at(jobs[b], key).value();
    });
    auto& points = line.line.points;
    points.reserve(line.jobs.size());
    for (const std::size_t job : line.jobs) {
      points.push_back({number_at(jobs[job], key).value(), static_cast<double>(results[job].totals->cycles), ""});
    }
    const std::size_t knee = drawing::knee_of(line.line);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const bool is_marked = points.size() <= drawing::max_marked_points || i == 0 || i + 1 == points.size();
      const std::size_t job = line.jobs[i];
      if (is_marked || i == knee) points[i].tip = tip_of(line.line.name, key, jobs[job], *results[job].totals);
    }
  }
  return lines;
}

/// The jobs at a line's knee and just before it; nothing where the knee is its first point.
std::optional<JobPair> knee_pair(const JobLine& line) {
  const std::size_t knee = drawing::knee_of(line.line);
  if (knee == 0) return std::nullopt;
  return JobPair{line.jobs[knee - 1], line.jobs[knee]};
}

/// What a line says: where it is lowest, from where on it falls no more, and what the plan does otherwise there.
std::string knee_text(const std::string& key, const JobLine& job_line, const KneeWords& words) {
  const drawing::SweepLine& line = job_line.line;
  const auto& points = line.points;
  const auto fewer = [](const auto& a, const auto& b) { return a.amount < b.amount; };
  const auto best = std::min_element(points.begin(), points.end(), fewer);
  const auto worst = std::max_element(points.begin(), points.end(), fewer);
  const double gain = 1 - best->amount / worst->amount;
  if (gain < drawing::least_gain) return fmt::format("{}: {} hardly matters.", line.name, key);
  std::string text = fmt::format("{}: fastest at {:.10g}, in {:.1f} % less time than at {:.10g}", line.name,
                                 best->value, 100 * gain, worst->value);
  const drawing::SweepPoint& knee = points[drawing::knee_of(line)];
  if (knee.value < best->value) text += fmt::format("; from {:.10g} on more gains less than 1 %", knee.value);
  const auto pair = knee_pair(job_line);
  const auto found = pair ? words.find(*pair) : words.end();
  return found != words.end() ? fmt::format("{}; {}.", text, found->second) : text + ".";
}

std::vector<std::string> networks_of(const std::vector<JobLine>& lines) {
  std::vector<std::string> networks;
  for (const JobLine& line : lines) {
    if (std::find(networks.begin(), networks.end(), line.network) == networks.end()) networks.push_back(line.network);
  }
  return networks;
}

/// The front in words: values ascending, each with the least time and the jobs that have it.
std::string front_text(const std::string& key, const std::vector<std::size_t>& front, const std::vector<Job>& jobs,
                       const std::vector<JobEnd>& results) {
  std::vector<std::string> parts;
  std::map<double, std::vector<std::size_t>> by_value;
  for (const std::size_t job : front) by_value[number_at(jobs[job], key).value()].push_back(job);
  for (const auto& [value, best] : by_value) {
    constexpr std::size_t max_named = 2;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < best.size() && i < max_named; ++i) names.push_back(jobs[best[i]].name);
    std::string text = fmt::format("{:.10g}: {} by {}", value, seconds_text(results[best.front()].totals->seconds),
                                   fmt::join(names, ", "));
    if (best.size() > max_named) text += fmt::format(" and {} more", best.size() - max_named);
    parts.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// One network's lines on one scale, its front ringed, and the front in words.
std::string front_part(const std::string& key, const std::string& network, const std::vector<JobLine>& all,
                       const std::set<std::size_t>& front, const std::vector<Job>& jobs,
                       const std::vector<JobEnd>& results) {
  std::vector<drawing::SweepLine> lines;
  std::vector<std::size_t> on_front;
  for (const JobLine& own : all) {
    if (own.network != network) continue;
    drawing::SweepLine line = own.line;
    line.rings.emplace();
    for (std::size_t i = 0; i < own.jobs.size(); ++i) {
      if (!front.contains(own.jobs[i])) continue;
      line.rings->push_back(i);
      line.points[i].tip = tip_of(line.name, key, jobs[own.jobs[i]], *results[own.jobs[i]].totals);
      on_front.push_back(own.jobs[i]);
    }
    lines.push_back(std::move(line));
  }
  if (lines.size() > drawing::max_sweep_lines) {
    // Those that have none of the best are left out first.
    std::stable_partition(lines.begin(), lines.end(), [](const auto& line) { return !line.rings->empty(); });
    lines.resize(drawing::max_sweep_lines);
  }
  std::sort(on_front.begin(), on_front.end());
  drawing::SweepNotes notes{fmt::format("Time of {} against {}", network, key),
                            "All lines are parts of the longest time. Rings are the Pareto front: no job takes less "
                            "time with as little, or less with as little time.",
                            {},
                            {},
                            true};
  return fmt::format("<h3>{}</h3>\n<figure>{}</figure>\n<p>{}.</p>\n", escaped(network),
                     to_svg(drawing::sweep_chart(key, lines, notes, page_sheet(chart_width, chart_height))),
                     escaped(front_text(key, on_front, jobs, results)));
}

/// A job's plan, where it is still the one of the results.
std::optional<Compilation> plan_of(const Job& job, const JobEnd& end, const PlanFolder& plan_folder,
                                   const Backends& backends, const std::stop_token& stop) {
  Diagnostics ignored;
  auto plan = read_compilation(plan_folder(job.name), ignored, stop, backends);
  if (!plan) return std::nullopt;
  const ProgramTotals totals = totals_of(plan->program);
  const bool is_same = totals.cycles == end.totals->cycles && totals.dma.bytes == end.totals->dma_bytes;
  return is_same ? std::optional(*std::move(plan)) : std::nullopt;
}

}  // namespace

std::vector<std::string> swept_keys(const std::vector<Job>& jobs) {
  std::vector<std::string> keys;
  for (const Job& job : jobs) {
    for (const SweptValue& swept : job.swept.values()) {
      if (std::find(keys.begin(), keys.end(), swept.key) == keys.end()) keys.push_back(swept.key);
    }
  }
  return keys;
}

std::string value_text(const TomlValue& value) {
  const auto* const text = std::get_if<std::string>(&value.is);
  return text != nullptr ? *text : single_text(value).value_or("");
}

KneeWords knee_words(const std::vector<Job>& jobs, const std::vector<JobEnd>& results, const PlanFolder& plan_folder,
                     int threads, const Backends& backends, const std::stop_token& stop) {
  struct Asked {
    std::string key;
    JobPair pair;
    std::string words = {};
  };
  std::vector<Asked> asked;
  for (const std::string& key : swept_keys(jobs)) {
    for (const JobLine& line : lines_over(key, jobs, results)) {
      if (const auto pair = knee_pair(line)) asked.push_back({key, *pair});
    }
  }
  parallel_for(asked.size(), static_cast<unsigned>(threads), stop, [&](std::size_t i) {
    const auto& [key, pair, words] = asked[i];
    const auto before = plan_of(jobs[pair.first], results[pair.first], plan_folder, backends, stop);
    const auto after =
        before ? plan_of(jobs[pair.second], results[pair.second], plan_folder, backends, stop) : std::nullopt;
    if (!after) return;
    asked[i].words = step_words(diff_compilations(*before, *after), value_text(*jobs[pair.first].swept.value(key)),
                                value_text(*jobs[pair.second].swept.value(key)));
  });
  KneeWords words;
  for (Asked& one : asked) {
    if (!one.words.empty()) words.emplace(one.pair, std::move(one.words));
  }
  return words;
}

std::set<std::size_t> pareto_front(const std::string& key, const std::vector<Job>& jobs,
                                   const std::vector<JobEnd>& results) {
  std::set<std::size_t> front;
  if (!key.starts_with("target.")) return front;
  struct Network {
    std::vector<std::size_t> jobs;
    std::set<std::string> lines;
  };
  std::map<std::string, Network> networks;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!number_at(jobs[i], key) || !results[i].totals) continue;
    Network& network = networks[source_of(jobs[i])];
    network.jobs.push_back(i);
    network.lines.insert(line_name(jobs[i], key));
  }
  const auto measure = [&](std::size_t job) {
    return std::pair(number_at(jobs[job], key).value(), results[job].totals->seconds);
  };
  for (auto& [name, network] : networks) {
    if (network.lines.size() < 2) continue;
    // By value, then by time: a job is beaten where one before it takes as little time or less.
    std::vector<std::size_t>& own = network.jobs;
    std::stable_sort(own.begin(), own.end(), [&](std::size_t a, std::size_t b) { return measure(a) < measure(b); });
    std::size_t best = own.front();
    for (const std::size_t job : own) {
      if (measure(job).second < measure(best).second) best = job;
      if (measure(job) == measure(best)) front.insert(job);
    }
  }
  return front;
}

std::string sweep_part(const std::string& key, const std::vector<Job>& jobs, const std::vector<JobEnd>& results,
                       const KneeWords& words) {
  std::vector<JobLine> lines = lines_over(key, jobs, results);
  if (lines.empty()) return "";
  std::string html = fmt::format("<h2>Time against {}</h2>\n", escaped(key));
  for (std::size_t first = 0; first < lines.size(); first += drawing::max_sweep_lines) {
    const std::size_t count = std::min(drawing::max_sweep_lines, lines.size() - first);
    std::vector<drawing::SweepLine> part;  // lent: a line may have very many points
    for (std::size_t i = 0; i < count; ++i) part.push_back(std::move(lines[first + i].line));
    html += "<figure>";
    html += to_svg(drawing::sweep_chart(key, part, page_sheet(chart_width, chart_height)));
    html += "</figure>\n";
    for (std::size_t i = 0; i < count; ++i) lines[first + i].line = std::move(part[i]);
  }
  html += "<ul>\n";
  for (const JobLine& line : lines) html += fmt::format("<li>{}</li>\n", escaped(knee_text(key, line, words)));
  html += "</ul>\n";
  const std::set<std::size_t> front = pareto_front(key, jobs, results);
  if (front.empty()) return html;
  html += fmt::format("<h2>Least time and least {}</h2>\n", escaped(key));
  for (const std::string& network : networks_of(lines)) {
    const bool has_front =
        std::any_of(front.begin(), front.end(), [&](std::size_t job) { return source_of(jobs[job]) == network; });
    if (has_front) html += front_part(key, network, lines, front, jobs, results);
  }
  return html;
}

}  // namespace stowage
