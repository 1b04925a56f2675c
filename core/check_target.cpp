// SPDX-License-Identifier: Apache-2.0
#include "core/check_target.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/athread_machine.h"

namespace stowage {
namespace {

constexpr double least_bytes_per_second = 1e6;
constexpr double largest_launch_seconds = 0.1;
constexpr int operations_of_multiply_add = 2;

class TargetCheck {
 public:
  explicit TargetCheck(const Target& target) : target_(target) {}

  std::vector<Contradiction> run() {
    if (target_.family != athread_family) return {};
    check_ldm();
    check_rates();
    if (target_.cores.launch_seconds > largest_launch_seconds) {
      add("cores.launch_seconds", fmt::format("a launch takes {} s", target_.cores.launch_seconds),
          "it is in seconds: 20 microseconds are 20e-6");
    }
    if (target_.cores.barrier_cycles > target_.cores.launch_seconds * target_.clock_hz) {
      add("cores.barrier_cycles",
          fmt::format("a barrier takes {} cycles, and to launch a kernel and wait for its end {:.0f}",
                      target_.cores.barrier_cycles, target_.cores.launch_seconds * target_.clock_hz),
          "a launch ends with all cores having come, so that a barrier takes less");
    }
    if (target_.dma.row_broadcast && target_.cores.mesh_columns == 1) {
      add("dma.row_broadcast", "a row of the mesh has one core, for which a get of its own is enough",
          "give the mesh as it is, or false");
    }
    if (target_.cores.column_broadcast && !sends_down_columns(target_)) {
      add("cores.column_broadcast",
          fmt::format(
              "nothing goes down columns: of {} rows at most {} can be named, and an 'ldm.alignment' of {} is for "
              "registers of {} bytes",
              target_.cores.mesh_rows, rows_of_register_communication, target_.ldm.alignment, bytes_of_register),
          "leave the key out, or give fewer rows and a larger alignment");
    }
    check_libraries();
    check_dma();
    if (target_.dma.lines) check_lines(*target_.dma.lines);
    if (!target_.dma.lines) check_curve();
    return std::move(found_);
  }

 private:
  void add(std::string key, std::string message, std::string remedy) {
    found_.push_back({std::move(key), std::move(message), std::move(remedy)});
  }

  void check_ldm() {
    if (target_.dma.good_block_bytes <= target_.ldm.available()) return;
    add("dma.good_block_bytes",
        fmt::format("a block of {} bytes does not fit the {} bytes that buffers have of an LDM",
                    target_.dma.good_block_bytes, target_.ldm.available()),
        "give the smallest block with good bandwidth, which buffers start from");
  }

  void check_rates() {
    const Cores& cores = target_.cores;
    const double vector = cores.vector_flops_per_cycle.of(ElementType::f32);
    const double scalar = cores.scalar_flops_per_cycle.of(ElementType::f32);
    const int vector_peak = operations_of_multiply_add * cores.vector_lanes;
    if (cores.vector_lanes > 1 && vector > vector_peak) {
      add("cores.vector_flops_per_cycle",
          fmt::format("{} operations a cycle, but {} lanes do at most {} in a multiply-add", vector, cores.vector_lanes,
                      vector_peak),
          "a core that issues several a cycle is not described yet: divide it into several cores");
    }
    if (scalar > operations_of_multiply_add) {
      add("cores.scalar_flops_per_cycle",
          fmt::format("{} operations a cycle, but one multiply-add does {}", scalar, operations_of_multiply_add),
          "it is of one core, in plain loops");
    }
    if (cores.vector_lanes > 1 && scalar > vector) {
      add("cores.scalar_flops_per_cycle",
          fmt::format("plain loops do {} operations a cycle, vectors {}: lanes would not pay", scalar, vector),
          "set cores.vector_lanes = 1, or mend the rates");
    }
  }

  void check_libraries() {
    if (target_.cores.launch_seconds > largest_launch_seconds) return;  // which is told already
    for (const Library& library : target_.libraries) {
      if (library.call_seconds >= target_.cores.launch_seconds) continue;
      add(fmt::format("library.{}.call_seconds", library.name),
          fmt::format("a call takes {} s, and to launch a kernel and wait for its end {}", library.call_seconds,
                      target_.cores.launch_seconds),
          "a library launches at least one");
    }
  }

  void check_dma() {
    const DmaEngine& dma = target_.dma;
    if (dma.issue_cycles > dma.startup_cycles) {
      add("dma.issue_cycles",
          fmt::format("a call keeps its core for {} cycles, but its reply may be there after {}", dma.issue_cycles,
                      dma.startup_cycles),
          "dma.startup_cycles counts from the call to the reply");
    }
    const double peak = this->peak();
    const double of_all = dma.core_bytes_per_second * target_.cores.count;
    if (dma.core_bytes_per_second > peak) {
      add("dma.core_bytes_per_second",
          fmt::format("one core reaches {:.3g} bytes/s, all of them {:.3g}", dma.core_bytes_per_second, peak),
          "leave it out where one core reaches what all reach");
    } else if (dma.core_bytes_per_second > 0 && of_all < peak) {
      add("dma.core_bytes_per_second",
          fmt::format("{} cores of {:.3g} bytes/s each never reach the {:.3g} of dma.bandwidth", target_.cores.count,
                      dma.core_bytes_per_second, peak),
          "give what one core reaches while no other moves anything");
    }
    if (peak < least_bytes_per_second) {
      add("dma.bandwidth", fmt::format("at most {} bytes/s", peak), "it is in bytes a second: 26.3 GB/s are 26.3e9");
    }
  }

  [[nodiscard]] double peak() const {
    if (target_.dma.lines) return target_.dma.lines->bytes_per_second;
    double best = 0;
    for (const BandwidthPoint& point : target_.dma.bandwidth) best = std::max(best, point.bytes_per_second);
    return best;
  }

  void check_lines(const LineRates& lines) {
    const double line_seconds = target_.main_memory.line_bytes / lines.bytes_per_second;
    if (lines.page_bytes < target_.main_memory.line_bytes) {
      add("dma.bandwidth.page_bytes",
          fmt::format("a page of {} bytes is less than a line of {}", lines.page_bytes, target_.main_memory.line_bytes),
          "a page holds several lines");
    }
    if (lines.block_seconds > 0 && lines.block_seconds < line_seconds) {
      add("dma.bandwidth.block_seconds",
          fmt::format("a block takes at least {:.3g} s, but its one line takes {:.3g} already", lines.block_seconds,
                      line_seconds),
          "0 says that blocks take no more than their lines");
    }
  }

  void check_curve() {
    const auto& points = target_.dma.bandwidth;
    const auto beyond = std::find_if(points.begin(), points.end(), [&](const BandwidthPoint& point) {
      return point.block_bytes > target_.ldm.bytes;
    });
    if (beyond == points.end()) return;
    add("dma.bandwidth",
        fmt::format("blocks of {} bytes do not fit an LDM of {}", beyond->block_bytes, target_.ldm.bytes),
        "no transfer is longer than the LDM");
  }

  const Target& target_;
  std::vector<Contradiction> found_;
};

}  // namespace

std::vector<Contradiction> contradictions(const Target& target) { return TargetCheck(target).run(); }

}  // namespace stowage
