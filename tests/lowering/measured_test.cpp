// SPDX-License-Identifier: Apache-2.0
// The time model of the built-in target beside what was measured on the machine (docs/measured/*.csv). The tables of
// docs/measurements.md are what comes out; STOWAGE_UPDATE_GOLDEN=1 writes them anew.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "lowering/time/cost_table.h"
#include "lowering/time/measured_error.h"
#include "lowering/time/rates.h"
#include "tests/places.h"

namespace stowage {
namespace {

struct Point {
  std::string series;
  std::string what;      ///< of the series
  double measured = 0;   ///< bytes per second of all cores
  double modelled = 0;   ///< the same
  bool fitted = false;   ///< numbers of the target, or of how it was measured, were taken from it
  bool is_long = false;  ///< too many to print each of them
};

double error_of(const Point& point) { return point.modelled / point.measured - 1; }

// How it was measured, as far as the sources leave it open. Where swGEMM's rows begin in a line: its curve steps where
// rows of 80, 208, 336 … bytes touch a line more.
constexpr std::int64_t start_of_swgemm_rows = 48;
// Where the arrays of STREAM begin, and what its loop over the LDM takes for 8 bytes: it waits for both.
constexpr std::int64_t start_of_stream = 112;
constexpr double stream_cycles_of_eight_bytes = 10;

std::vector<std::vector<std::string>> read_cells(const std::string& name) {
  std::ifstream file(test::source_folder() / "docs/measured" / name);
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(file, line);
  const auto columns = static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')) + 1;
  while (std::getline(file, line)) {
    std::istringstream row(line);
    std::vector<std::string>& cells = rows.emplace_back(columns);
    for (std::string& cell : cells) std::getline(row, cell, ',');
  }
  return rows;
}

Target sw26010() {
  Diagnostics diagnostics;
  return *load_target("sw26010", {}, diagnostics);
}

/// Of one transfer on each core, from the call to the reply.
double seconds_of_transfer(const Target& target, DmaDirection direction, std::int64_t row_bytes,
                           std::int64_t bytes_a_core, const RowAlignment& placement) {
  TransferCost cost;
  cost.direction = direction;
  cost.moved = {{row_bytes, target.cores.count * bytes_a_core, dma_bandwidth(target, direction, row_bytes, placement)}};
  cost.transfers_of_busiest = 1;
  cost.calls_of_busiest = 1;
  cost.startup_cycles = target.dma.startup_cycles;
  cost.issue_cycles = target.dma.issue_cycles;
  cost.clock_hz = target.clock_hz;
  return static_cast<double>(cycles_of(cost)) / target.clock_hz;
}

/// Bytes per second of all cores, as the series counts them.
double modelled(const Target& target, const std::string& series, std::int64_t row, std::int64_t bytes_a_core) {
  const std::int64_t line = target.main_memory.line_bytes;
  const auto bytes = static_cast<double>(target.cores.count * bytes_a_core);
  if (series == "swgemm-bandwidth") {  // cores of a row of the mesh read side by side
    return dma_bandwidth(target, DmaDirection::get, row, {line, start_of_swgemm_rows, target.cores.mesh_columns});
  }
  if (series == "swdnn-strided-get") {  // all cores read the same; a launch makes twenty of them, and its time counts
    constexpr int gets = 20;
    const double get = seconds_of_transfer(target, DmaDirection::get, row, bytes_a_core, {line, 0, target.cores.count});
    return gets * bytes / (target.cores.launch_seconds + gets * get);
  }
  if (series == "swcandle-broadcast") {  // twenty in a launch, from one core to all; what one LDM receives counts
    constexpr int broadcasts = 20;
    const double received = static_cast<double>(bytes_a_core);
    const double moving = received / std::min(target.dma.core_bytes_per_second,
                                              dma_bandwidth(target, DmaDirection::get, row, {line, 0, 1}));
    const double own = target.dma.startup_cycles + target.dma.issue_cycles + 2 * target.cores.barrier_cycles;
    return broadcasts * received / (target.cores.launch_seconds + broadcasts * (own / target.clock_hz + moving));
  }
  REQUIRE(series == "swcaffe-relu");  // a get and a put, one behind the other; the bytes of both count
  const RowAlignment placement{line, 0, 1};
  return 2 * bytes /
         (seconds_of_transfer(target, DmaDirection::get, row, bytes_a_core, placement) +
          seconds_of_transfer(target, DmaDirection::put, row, bytes_a_core, placement));
}

/// One iteration of a kernel of STREAM on every core: gets, the loop over the LDM, a put; each waits for the one
/// before.
double modelled_stream(const Target& target, std::int64_t gap, std::int64_t row, std::int64_t bytes_a_core, int gets) {
  const std::int64_t step = std::gcd(row + gap, target.main_memory.line_bytes);
  const RowAlignment placement{step, start_of_stream % step, 1};
  const double get = seconds_of_transfer(target, DmaDirection::get, row, bytes_a_core, placement);
  const double put = seconds_of_transfer(target, DmaDirection::put, row, bytes_a_core, placement);
  const double loop = static_cast<double>(bytes_a_core) / 8 * stream_cycles_of_eight_bytes / target.clock_hz;
  return static_cast<double>((gets + 1) * target.cores.count * bytes_a_core) / (gets * get + loop + put);
}

std::vector<Point> all_points(const Target& target) {
  std::vector<Point> points;
  for (const auto& cells : read_cells("dma.csv")) {
    const std::int64_t row = std::stoll(cells[1]);
    const std::int64_t bytes_a_core = std::stoll(cells[2]);
    const bool is_long = cells[0] == "swgemm-bandwidth" && row > 512 && cells[4] != "fitted";
    points.push_back({cells[0], fmt::format("rows of {}, {} a core", row, bytes_a_core), std::stod(cells[3]) * 1e9,
                      modelled(target, cells[0], row, bytes_a_core), cells[4] == "fitted", is_long});
  }
  constexpr std::array<std::pair<std::string_view, int>, 4> kernels = {
      {{"copy", 1}, {"scale", 1}, {"add", 2}, {"triad", 2}}};
  for (const auto& cells : read_cells("stream.csv")) {
    const std::int64_t gap = std::stoll(cells[0]);
    const std::int64_t row = std::stoll(cells[1]);
    const std::int64_t bytes_a_core = std::stoll(cells[2]);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const auto& [kernel, gets] = kernels[k];
      const std::string series = gap == 0 ? "stream-contiguous" : row < 256 ? "stream-short-rows" : "stream-long-rows";
      const bool is_long = (gap > 8 || k == 1 || k == 2);
      points.push_back({series, fmt::format("{}: rows of {}, gaps of {}, {} a core", kernel, row, gap, bytes_a_core),
                        std::stod(cells[3 + k]) * 1e9, modelled_stream(target, gap, row, bytes_a_core, gets),
                        cells[7].find(kernel) != std::string::npos, is_long});
    }
  }
  return points;
}

struct Summary {
  std::size_t points = 0;
  double median = 0;  ///< of the absolute errors
  double share_within_quarter = 0;
  double worst = 0;  ///< signed
};

Summary summary_of(const std::vector<double>& errors) {
  Summary summary;
  summary.points = errors.size();
  std::vector<double> sorted;
  for (const double error : errors) {
    sorted.push_back(std::abs(error));
    if (std::abs(error) > std::abs(summary.worst)) summary.worst = error;
    if (std::abs(error) <= 0.25) summary.share_within_quarter += 1.0 / static_cast<double>(errors.size());
  }
  std::sort(sorted.begin(), sorted.end());
  summary.median = sorted[sorted.size() / 2];
  return summary;
}

std::vector<double> held_out_errors(const std::vector<Point>& points) {
  std::vector<double> errors;
  for (const Point& point : points) {
    if (!point.fitted) errors.push_back(error_of(point));
  }
  return errors;
}

std::string percent(double part) { return fmt::format("{:+.0f} %", 100 * part); }

std::string table(const std::vector<Point>& points) {
  std::string text =
      "| series | points | fitted | held out: median error | within 25 % | worst |\n|---|---:|---:|---:|---:|---:|\n";
  std::vector<std::string> names;
  std::map<std::string, std::vector<Point>> series;
  for (const Point& point : points) {
    if (!series.contains(point.series)) names.push_back(point.series);
    series[point.series].push_back(point);
  }
  const auto row = [&](const std::string& name, const std::vector<Point>& of) {
    const Summary summary = summary_of(held_out_errors(of));
    text += fmt::format("| {} | {} | {} | {:.0f} % | {:.0f} % | {} |\n", name, of.size(), of.size() - summary.points,
                        100 * summary.median, 100 * summary.share_within_quarter, percent(summary.worst));
  };
  for (const std::string& name : names) row("`" + name + "`", series[name]);
  row("all", points);
  text += "\n| series | bytes | measured, GB/s | modelled, GB/s | error | |\n|---|---|---:|---:|---:|---|\n";
  for (const Point& point : points) {
    if (point.is_long) continue;
    text += fmt::format("| `{}` | {} | {:.2f} | {:.2f} | {} | {} |\n", point.series, point.what, point.measured / 1e9,
                        point.modelled / 1e9, percent(error_of(point)), point.fitted ? "fitted" : "");
  }
  return text;
}

constexpr std::string_view begin_mark = "<!-- what the model makes of docs/measured -->\n";
constexpr std::string_view end_mark = "<!-- end -->\n";

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("docs/measurements.md has what the time model makes of every measured point") {
  const auto path = test::source_folder() / "docs/measurements.md";
  const std::string page = read_text(path);
  const auto begin = page.find(begin_mark);
  const auto end = page.find(end_mark);
  REQUIRE((begin != std::string::npos && end != std::string::npos && begin < end));
  const std::vector<Point> points = all_points(sw26010());
  CHECK(points.size() == 267 + 4 * 98);
  const std::string wanted = page.substr(0, begin + begin_mark.size()) + "\n" + table(points) + "\n" + page.substr(end);
  if (std::getenv("STOWAGE_UPDATE_GOLDEN") != nullptr && page != wanted) std::ofstream(path) << wanted;
  CHECK(page == wanted);
}

TEST_CASE("of the measured points held out of the fit half are met within 10 %, nine of ten within 25 %") {
  const Summary all = summary_of(held_out_errors(all_points(sw26010())));
  INFO(all.median << ", " << all.share_within_quarter);
  CHECK(all.points > 600);
  CHECK(all.median <= 0.10);
  CHECK(all.share_within_quarter >= 0.9);
  // The share that comparisons of plans name, to the whole per cent of docs/measurements.md.
  CHECK(std::round(100 * all.median) == std::round(100 * measured_error));
}

}  // namespace stowage
