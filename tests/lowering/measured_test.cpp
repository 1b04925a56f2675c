// SPDX-License-Identifier: Apache-2.0
// The time model of the built-in target beside what was measured on the machine (docs/measured/dma.csv). The table of
// docs/measurements.md is what comes out; STOWAGE_UPDATE_GOLDEN=1 writes it anew.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "lowering/time/cost_table.h"
#include "lowering/time/rates.h"
#include "tests/places.h"

namespace stowage {
namespace {

struct Point {
  std::string series;
  std::int64_t block_bytes = 0;
  std::int64_t bytes_a_core = 0;  ///< of one transfer
  double measured = 0;            ///< bytes per second of all cores
  bool fitted = false;            ///< the target's numbers were taken from it
};

std::vector<Point> read_points() {
  std::ifstream file(test::source_folder() / "docs/measured/dma.csv");
  std::vector<Point> points;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream row(line);
    std::array<std::string, 5> cells;
    for (std::string& cell : cells) std::getline(row, cell, ',');
    points.push_back(
        {cells[0], std::stoll(cells[1]), std::stoll(cells[2]), std::stod(cells[3]) * 1e9, cells[4] == "fitted"});
  }
  return points;
}

Target sw26010() {
  Diagnostics diagnostics;
  return *load_target("sw26010", {}, diagnostics);
}

double seconds_of_transfer(const Target& target, DmaDirection direction, const Point& point) {
  TransferCost cost;
  cost.direction = direction;
  cost.moved = {{point.block_bytes, target.cores.count * point.bytes_a_core, dma_bandwidth(target, point.block_bytes)}};
  cost.transfers_of_busiest = 1;
  cost.startup_cycles = target.dma.startup_cycles;
  cost.clock_hz = target.clock_hz;
  return static_cast<double>(cycles_of(cost)) / target.clock_hz;
}

/// Bytes per second of all cores, as the series counts them.
double modelled(const Target& target, const Point& point) {
  const auto bytes = static_cast<double>(target.cores.count * point.bytes_a_core);
  if (point.series == "swgemm-bandwidth") return dma_bandwidth(target, point.block_bytes);
  if (point.series == "swdnn-strided-get") {
    // A launch makes twenty of them, and its time counts.
    constexpr int gets = 20;
    return gets * bytes / (target.cores.launch_seconds + gets * seconds_of_transfer(target, DmaDirection::get, point));
  }
  // A get and a put, one behind the other; the bytes of both count.
  return 2 * bytes /
         (seconds_of_transfer(target, DmaDirection::get, point) +
          seconds_of_transfer(target, DmaDirection::put, point));
}

double error_of(const Target& target, const Point& point) { return modelled(target, point) / point.measured - 1; }

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

std::string percent(double part) { return fmt::format("{:+.0f} %", 100 * part); }

std::string table(const Target& target, const std::vector<Point>& points) {
  std::string text = "| series | points held out | median error | within 25 % | worst |\n|---|---:|---:|---:|---:|\n";
  std::vector<std::string> series;
  std::map<std::string, std::vector<double>> errors;
  std::vector<double> all;
  for (const Point& point : points) {
    if (std::find(series.begin(), series.end(), point.series) == series.end()) series.push_back(point.series);
    if (point.fitted) continue;
    errors[point.series].push_back(error_of(target, point));
    all.push_back(error_of(target, point));
  }
  const auto row = [&](const std::string& name, const std::vector<double>& of) {
    const Summary summary = summary_of(of);
    text += fmt::format("| {} | {} | {:.0f} % | {:.0f} % | {} |\n", name, summary.points, 100 * summary.median,
                        100 * summary.share_within_quarter, percent(summary.worst));
  };
  for (const std::string& name : series) row("`" + name + "`", errors[name]);
  row("all", all);
  text +=
      "\n| series | block, bytes | bytes a core | measured, GB/s | modelled, GB/s | error | "
      "|\n|---|---:|---:|---:|---:|---:|---|\n";
  for (const Point& point : points) {
    // Of the long series those points that the tables of its source print, and the fitted ones.
    const bool shown = point.series != "swgemm-bandwidth" || point.fitted || point.block_bytes <= 256;
    if (!shown) continue;
    text += fmt::format("| `{}` | {} | {} | {:.2f} | {:.2f} | {} | {} |\n", point.series, point.block_bytes,
                        point.bytes_a_core, point.measured / 1e9, modelled(target, point) / 1e9,
                        percent(error_of(target, point)), point.fitted ? "fitted" : "");
  }
  return text;
}

constexpr std::string_view begin_mark = "<!-- what the model makes of docs/measured/dma.csv -->\n";
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
  const std::vector<Point> points = read_points();
  CHECK(points.size() == 302);
  const std::string wanted =
      page.substr(0, begin + begin_mark.size()) + "\n" + table(sw26010(), points) + "\n" + page.substr(end);
  if (std::getenv("STOWAGE_UPDATE_GOLDEN") != nullptr && page != wanted) std::ofstream(path) << wanted;
  CHECK(page == wanted);
}

TEST_CASE("points that the target's numbers were taken from are met by the model") {
  const Target target = sw26010();
  int fitted = 0;
  for (const Point& point : read_points()) {
    if (!point.fitted || point.series != "swgemm-bandwidth") continue;
    INFO(point.block_bytes);
    CHECK(std::abs(error_of(target, point)) < 0.005);
    ++fitted;
  }
  CHECK(static_cast<std::size_t>(fitted) == target.dma.bandwidth.size());
}

}  // namespace stowage
