// SPDX-License-Identifier: Apache-2.0
#include "emitter/emulation/emulation_protocol.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "core/quoting.h"

namespace stowage {
namespace {

std::string_view name_of(EmulationLevel level) {
  switch (level) {
    case EmulationLevel::count: return "count";
    case EmulationLevel::check: return "check";
    case EmulationLevel::strict: return "strict";
  }
  fail_check("unknown emulation level");
}

/// Names end a line of the configuration, so they must not.
std::string one_line(std::string_view name) { return name.empty() ? "-" : line_text(name); }

std::optional<EmulationProblem> parse_problem(bool error, const std::string& rest) {
  std::vector<std::string> fields;
  std::istringstream stream(rest);
  for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
  if (fields.size() != 6) return std::nullopt;
  EmulationProblem problem;
  problem.error = error;
  problem.code = fields[0];
  problem.file = fields[3];
  problem.text = fields[5];
  std::istringstream numbers(fields[1] + " " + fields[2] + " " + fields[4]);
  int launch = 0, core = 0;  // -1: of none
  if (!(numbers >> launch >> core >> problem.line)) return std::nullopt;
  if (launch >= 0) problem.launch = static_cast<std::size_t>(launch);
  if (core >= 0) problem.core = core;
  return problem;
}

}  // namespace

std::string configuration_text(const EmulationJob& job, const std::string& report_path, const std::string& dump_path) {
  std::string text = fmt::format(
      "level {}\nworkers {}\ncores {}\ncolumns {}\nldm {}\nalignment {}\nline {}\nseed {}\nresult {}\ndumps {}\n",
      name_of(job.options.level), job.options.workers, job.cores, job.columns, job.ldm_bytes, job.dma_alignment,
      job.line_bytes, job.options.seed, report_path, dump_path);
  for (const EmulatedLine& line : job.unaligned) text += fmt::format("unaligned {} {}\n", line.line, line.file);
  for (const EmulatedLaunch& launch : job.launches) {
    text += fmt::format("launch {}\n", one_line(launch.name));
    for (const EmulatedRange& range : launch.ranges)
      text += fmt::format("{} {} {} {} {}\n", range.writable ? "write" : "read", range.area, range.offset, range.bytes,
                          one_line(range.name));
    for (const EmulatedGap& gap : launch.gaps) text += fmt::format("gap {} {}\n", gap.offset, gap.bytes);
  }
  for (const EmulatedDump& dump : job.dumps)
    text += fmt::format("dump {} {} {} {}\n", dump.after_launch, dump.area, dump.offset, dump.bytes);
  return text;
}

EmulationReport parse_emulation_report(std::string_view text) {
  EmulationReport report;
  if (!text.ends_with("end\n")) return report;  // the program was ended while it wrote, or before
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    const std::size_t rest = std::min(key.size() + 1, line.size());
    if (key == "seconds") {
      words >> report.seconds;
    } else if (key == "fetches") {
      words >> report.parameter_fetches;
    } else if (key == "ldm") {
      std::size_t launch = 0;
      std::int64_t peak = 0;
      words >> launch >> peak;
      if (launch != report.ldm_peak_bytes.size()) return {};
      report.ldm_peak_bytes.push_back(peak);
    } else if (key == "count") {
      LineCount count;
      words >> count.launch >> count.line >> count.operations >> count.bytes >> count.transfers >> count.file;
      report.counts.push_back(std::move(count));
    } else if (key == "meet") {
      LineMeetings met;
      words >> met.launch >> met.line >> met.meetings.times >> met.meetings.registers >> met.file;
      report.meetings.push_back(std::move(met));
    } else if (key == "error" || key == "warning") {
      auto problem = parse_problem(key == "error", line.substr(rest));
      if (!problem) return {};
      report.problems.push_back(*std::move(problem));
    } else if (key == "end") {
      report.complete = true;
    } else {
      return {};
    }
  }
  return report;
}

}  // namespace stowage
