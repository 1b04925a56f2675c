// SPDX-License-Identifier: Apache-2.0
// The time model of the built-in target beside what was measured on the machine (docs/measured/*.csv). The tables of
// docs/measurements.md are what comes out; STOWAGE_UPDATE_GOLDEN=1 writes them anew.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "lowering/simulate/execution_cost.h"
#include "lowering/simulate/simulate.h"
#include "lowering/time/cost_table.h"
#include "lowering/time/measured_error.h"
#include "lowering/time/rates.h"
#include "tests/places.h"
#include "tests/sunway.h"

namespace stowage::measured_test {
namespace {

struct Point {
  std::string series;
  std::string what;      ///< of the series
  double measured = 0;   ///< bytes per second of all cores
  double modelled = 0;   ///< the same, by the closed form
  double simulated = 0;  ///< the same, by simulation
  bool fitted = false;   ///< numbers of the target, or of how it was measured, were taken from it
  bool is_long = false;  ///< too many to print each of them
};

double error_of(const Point& point) { return point.modelled / point.measured - 1; }
double error_of_simulation(const Point& point) { return point.simulated / point.measured - 1; }

// How it was measured, as far as the sources leave it open. Where swGEMM's blocks begin in a line: its curve steps
// where blocks of 80, 208, 336 … bytes touch a line more.
constexpr std::int64_t start_of_swgemm_blocks = 48;
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

/// One transfer of a run.
struct Transfer {
  DmaDirection direction = DmaDirection::get;
  std::int64_t block_bytes = 0;
  std::int64_t bytes_a_core = 0;
  double bytes_per_second = 0;  ///< of the engine, in such blocks
};

/// What was run for a point: on every core, or on one for all, one behind the other, each waiting for the one before.
struct Run {
  std::vector<Transfer> transfers;
  double loop_cycles = 0;  ///< behind the gets, on every core
  int times = 1;
  bool by_one_core = false;    ///< for all of them, between barriers
  bool launch_counts = false;  ///< in the time that was measured
  bool only_moving = false;    ///< bandwidth while data move is what was measured; transfers are started in time
  double counted_bytes = 0;    ///< of one of these times
};

Transfer transfer(const Target& target, DmaDirection direction, std::int64_t block, std::int64_t bytes_a_core,
                  const BlockAlignment& placement) {
  return {direction, block, bytes_a_core, dma_bandwidth(target, direction, block, placement)};
}

/// Of one transfer on each core, from the call to the reply, by the closed form.
double seconds_of(const Target& target, const Transfer& transfer) {
  TransferCost cost;
  cost.direction = transfer.direction;
  cost.moved = {{transfer.block_bytes, target.cores.count * transfer.bytes_a_core, transfer.bytes_per_second}};
  cost.transfers_of_busiest = 1;
  cost.calls_of_busiest = 1;
  cost.startup_cycles = target.dma.startup_cycles;
  cost.issue_cycles = target.dma.issue_cycles;
  cost.clock_hz = target.clock_hz;
  return static_cast<double>(cycles_of(cost)) / target.clock_hz;
}

/// Bytes per second by the closed form.
double modelled(const Target& target, const Run& run) {
  if (run.only_moving) return run.transfers.front().bytes_per_second;
  double seconds = run.loop_cycles / target.clock_hz;
  for (const Transfer& t : run.transfers) {
    if (run.by_one_core) {
      const double own = target.dma.startup_cycles + target.dma.issue_cycles + 2 * target.cores.barrier_cycles;
      seconds += own / target.clock_hz +
                 static_cast<double>(t.bytes_a_core) / std::min(target.dma.core_bytes_per_second, t.bytes_per_second);
    } else {
      seconds += seconds_of(target, t);
    }
  }
  return run.times * run.counted_bytes / ((run.launch_counts ? target.cores.launch_seconds : 0) + run.times * seconds);
}

/// The requests of a run, as a simulation plays them.
class RunRequests {
 public:
  RunRequests(const Target& target, const Run& run) : target_(target) {
    barrier_cycles_ = std::llround(target.cores.barrier_cycles);
    std::vector<SequencePart> parts, others;
    for (const Transfer& t : run.transfers) {
      if (t.direction == DmaDirection::put && run.loop_cycles > 0) parts.push_back({computation(run), {}, 1});
      if (run.by_one_core) parts.push_back({barrier(), {}, 1});
      parts.push_back({started(t), {}, 1});
      if (!run.only_moving) parts.push_back({awaited(), {}, 1});
      if (!run.by_one_core) continue;
      parts.push_back({barrier(), {}, 1});
      for (int i = 0; i < 2; ++i) others.push_back({barrier(), {}, 1});
    }
    all_.of_core.assign(static_cast<std::size_t>(target.cores.count), repeated(std::move(parts), run.times));
    if (!run.by_one_core) return;
    const SequenceId of_others = repeated(std::move(others), run.times);
    std::fill(all_.of_core.begin() + 1, all_.of_core.end(), of_others);
  }
  [[nodiscard]] const RequestSequences& all() const { return all_; }

 private:
  RequestId add(Request request) { return all_.requests.push_back(std::move(request)); }
  AskerId statement(Stmt::Node node) {
    statements_.push_back(std::make_unique<Stmt>(Stmt{StatementId(statements_.size()), std::move(node), ""}));
    return all_.statements.push_back(statements_.back().get());
  }
  SequenceId repeated(std::vector<SequencePart> parts, int times) {
    const SequenceId once = all_.sequences.push_back({std::move(parts)});
    return all_.sequences.push_back({{{std::nullopt, once, times}}});
  }
  RequestId started(const Transfer& t) {
    Request request;
    request.kind = Request::Kind::transfer;
    request.statement = last_ = statement(Dma{});
    request.slot = SlotId(0);
    request.direction = t.direction;
    const auto cycles_at = [&](double rate) { return static_cast<double>(t.bytes_a_core) / rate * target_.clock_hz; };
    request.execution = {std::llround(target_.dma.issue_cycles),
                         std::llround(target_.dma.startup_cycles),
                         std::llround(cycles_at(t.bytes_per_second) * static_cast<double>(parts_of_cycle)),
                         std::llround(cycles_at(target_.dma.core_bytes_per_second)),
                         1,
                         t.bytes_a_core};
    return add(std::move(request));
  }
  RequestId awaited() {
    Request request;
    request.kind = Request::Kind::await_statement;
    request.awaited = last_;
    request.statement = statement(Wait{});
    return add(std::move(request));
  }
  RequestId computation(const Run& run) {
    Request request;
    request.cycles = std::llround(run.loop_cycles);
    request.statement = statement(Compute{});
    return add(std::move(request));
  }
  RequestId barrier() {
    Request request;
    request.kind = Request::Kind::barrier;
    request.meeting_cycles = barrier_cycles_;
    request.statement = statement(Barrier{});
    return add(std::move(request));
  }

  const Target& target_;
  std::int64_t barrier_cycles_ = 0;
  RequestSequences all_;
  std::vector<std::unique_ptr<Stmt>> statements_;
  AskerId last_;
};

/// Bytes per second by the simulation of the same run.
double simulated(const Target& target, const Run& run) {
  const RunRequests requests(target, run);
  const std::int64_t launch =
      run.launch_counts ? std::llround(target.cores.launch_seconds * target.clock_hz) : std::int64_t{0};
  const Simulated made = simulate(requests.all(), launch);
  REQUIRE(std::holds_alternative<Simulation>(made));
  const auto& simulation = std::get<Simulation>(made);
  const std::int64_t cycles = run.only_moving ? simulation.dma.busy_cycles : simulation.cycles;
  return run.times * run.counted_bytes * target.clock_hz / static_cast<double>(cycles);
}

/// What was run for a series; bytes are counted as it counts them.
Run run_of(const Target& target, const std::string& series, std::int64_t block, std::int64_t bytes_a_core) {
  const std::int64_t line = target.main_memory.line_bytes;
  const auto bytes = static_cast<double>(target.cores.count * bytes_a_core);
  Run run;
  run.counted_bytes = bytes;
  if (series == "swgemm-bandwidth") {  // cores of a row of the mesh read side by side
    run.transfers = {transfer(target, DmaDirection::get, block, bytes_a_core,
                              {line, start_of_swgemm_blocks, target.cores.mesh_columns})};
    run.only_moving = true;
    run.times = 50;
  } else if (series == "swdnn-strided-get") {  // all cores read the same; a launch makes twenty, and its time counts
    run.transfers = {transfer(target, DmaDirection::get, block, bytes_a_core, {line, 0, target.cores.count})};
    run.launch_counts = true;
    run.times = 20;
  } else if (series == "swcandle-broadcast") {  // twenty in a launch, from one core to all; what one LDM gets counts
    run.transfers = {transfer(target, DmaDirection::get, block, bytes_a_core, {line, 0, 1})};
    run.launch_counts = run.by_one_core = true;
    run.times = 20;
    run.counted_bytes = static_cast<double>(bytes_a_core);
  } else {  // a get and a put, one behind the other; the bytes of both count
    REQUIRE(series == "swcaffe-relu");
    for (const DmaDirection direction : {DmaDirection::get, DmaDirection::put})
      run.transfers.push_back(transfer(target, direction, block, bytes_a_core, {line, 0, 1}));
    run.counted_bytes = 2 * bytes;
  }
  return run;
}

/// One iteration of a kernel of STREAM on every core: gets, the loop over the LDM, a put; each waits for the one
/// before.
Run stream_run(const Target& target, std::int64_t gap, std::int64_t block, std::int64_t bytes_a_core, int gets) {
  const std::int64_t step = std::gcd(block + gap, target.main_memory.line_bytes);
  const BlockAlignment placement{step, start_of_stream % step, 1};
  Run run;
  run.transfers.assign(static_cast<std::size_t>(gets),
                       transfer(target, DmaDirection::get, block, bytes_a_core, placement));
  run.transfers.push_back(transfer(target, DmaDirection::put, block, bytes_a_core, placement));
  run.loop_cycles = static_cast<double>(bytes_a_core) / 8 * stream_cycles_of_eight_bytes;
  run.counted_bytes = static_cast<double>((gets + 1) * target.cores.count * bytes_a_core);
  return run;
}

std::vector<Point> all_points(const Target& target) {
  std::vector<Point> points;
  for (const auto& cells : read_cells("dma.csv")) {
    const std::int64_t block = std::stoll(cells[1]);
    const std::int64_t bytes_a_core = std::stoll(cells[2]);
    const bool is_long = cells[0] == "swgemm-bandwidth" && block > 512 && cells[4] != "fitted";
    const Run run = run_of(target, cells[0], block, bytes_a_core);
    points.push_back({cells[0], fmt::format("blocks of {}, {} a core", block, bytes_a_core), std::stod(cells[3]) * 1e9,
                      modelled(target, run), simulated(target, run), cells[4] == "fitted", is_long});
  }
  constexpr std::array<std::pair<std::string_view, int>, 4> kernels = {
      {{"copy", 1}, {"scale", 1}, {"add", 2}, {"triad", 2}}};
  for (const auto& cells : read_cells("stream.csv")) {
    const std::int64_t gap = std::stoll(cells[0]);
    const std::int64_t block = std::stoll(cells[1]);
    const std::int64_t bytes_a_core = std::stoll(cells[2]);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const auto& [kernel, gets] = kernels[k];
      const std::string series = gap == 0      ? "stream-contiguous"
                                 : block < 256 ? "stream-short-blocks"
                                               : "stream-long-blocks";
      const bool is_long = (gap > 8 || k == 1 || k == 2);
      const Run run = stream_run(target, gap, block, bytes_a_core, gets);
      points.push_back({series,
                        fmt::format("{}: blocks of {}, gaps of {}, {} a core", kernel, block, gap, bytes_a_core),
                        std::stod(cells[3 + k]) * 1e9, modelled(target, run), simulated(target, run),
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

template <class Error>
std::vector<double> held_out_errors(const std::vector<Point>& points, const Error& error) {
  std::vector<double> errors;
  for (const Point& point : points) {
    if (!point.fitted) errors.push_back(error(point));
  }
  return errors;
}

std::string percent(double part) { return fmt::format("{:+.0f} %", 100 * part); }

std::string table(const std::vector<Point>& points) {
  std::string text =
      "| series | points | fitted | held out: median error | within 25 % | worst | simulated: median error | within 25 "
      "% "
      "| worst |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  std::vector<std::string> names;
  std::map<std::string, std::vector<Point>> series;
  for (const Point& point : points) {
    if (!series.contains(point.series)) names.push_back(point.series);
    series[point.series].push_back(point);
  }
  const auto row = [&](const std::string& name, const std::vector<Point>& of) {
    const Summary summary = summary_of(held_out_errors(of, error_of));
    const Summary simulated = summary_of(held_out_errors(of, error_of_simulation));
    text += fmt::format("| {} | {} | {} | {:.0f} % | {:.0f} % | {} | {:.0f} % | {:.0f} % | {} |\n", name, of.size(),
                        of.size() - summary.points, 100 * summary.median, 100 * summary.share_within_quarter,
                        percent(summary.worst), 100 * simulated.median, 100 * simulated.share_within_quarter,
                        percent(simulated.worst));
  };
  for (const std::string& name : names) row("`" + name + "`", series[name]);
  row("all", points);
  text +=
      "\n| series | bytes | measured, GB/s | closed form, GB/s | error | simulated, GB/s | error | |\n"
      "|---|---|---:|---:|---:|---:|---:|---|\n";
  for (const Point& point : points) {
    if (point.is_long) continue;
    text += fmt::format("| `{}` | {} | {:.2f} | {:.2f} | {} | {:.2f} | {} | {} |\n", point.series, point.what,
                        point.measured / 1e9, point.modelled / 1e9, percent(error_of(point)), point.simulated / 1e9,
                        percent(error_of_simulation(point)), point.fitted ? "fitted" : "");
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
  const std::vector<Point> points = all_points(fixtures::sunway());
  CHECK(points.size() == 267 + 4 * 98);
  const std::string wanted = page.substr(0, begin + begin_mark.size()) + "\n" + table(points) + "\n" + page.substr(end);
  if (std::getenv("STOWAGE_UPDATE_GOLDEN") != nullptr && page != wanted) std::ofstream(path) << wanted;
  CHECK(page == wanted);
}

TEST_CASE("of the measured points held out of the fit half are met within 10 %, nine of ten within 25 %") {
  const Summary all = summary_of(held_out_errors(all_points(fixtures::sunway()), error_of));
  INFO(all.median << ", " << all.share_within_quarter);
  CHECK(all.points > 600);
  CHECK(all.median <= 0.10);
  CHECK(all.share_within_quarter >= 0.9);
  // The share that comparisons of plans name, to the whole per cent of docs/measurements.md.
  CHECK(std::round(100 * all.median) == std::round(100 * measured_error));
}

TEST_CASE("the simulation meets the measured points as well as the closed form") {
  const std::vector<Point> points = all_points(fixtures::sunway());
  std::map<std::string, std::vector<Point>> series;
  for (const Point& point : points) series[point.series].push_back(point);
  for (const auto& [name, of] : series) {
    INFO(name);
    const Summary closed = summary_of(held_out_errors(of, error_of));
    const Summary simulated = summary_of(held_out_errors(of, error_of_simulation));
    CHECK(simulated.median <= closed.median + 0.005);
    CHECK(simulated.share_within_quarter >= closed.share_within_quarter);
  }
}

}  // namespace stowage::measured_test
