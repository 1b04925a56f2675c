// SPDX-License-Identifier: Apache-2.0
// The first time model: closed-form cycles of a nest, term by term, nothing overlapping.
//
//   launch   spawn and join
//   dma      bytes of all cores at the bandwidth that the whole core group reaches with blocks of that size, plus the
//            start-up of every transfer of the core that moves most
//   compute  operations of the busiest core at the rate of the emitted inner-loop form
//   fill     elements that the busiest core sets to padding or to what a reduction starts from, one store a cycle
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lowering/compute_form.h"
#include "lowering/planner.h"

namespace stowage {

double dma_bandwidth(const Target& target, std::int64_t block_bytes) {
  const auto& points = target.dma_bandwidth;
  check(!points.empty(), "target without a bandwidth table");
  const double block = static_cast<double>(block_bytes);
  if (block_bytes <= points.front().block_bytes) {
    return points.front().bytes_per_second * block / static_cast<double>(points.front().block_bytes);
  }
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (block_bytes > points[i].block_bytes) continue;
    const double from = static_cast<double>(points[i - 1].block_bytes);
    const double to = static_cast<double>(points[i].block_bytes);
    const double share = (block - from) / (to - from);
    return points[i - 1].bytes_per_second + share * (points[i].bytes_per_second - points[i - 1].bytes_per_second);
  }
  return points.back().bytes_per_second;
}

namespace {

/// Whole cycles, at most 2^50: terms may be added up without overflow, and a plan of so many is refused anyway.
std::int64_t whole_cycles(double cycles) {
  return std::llround(std::ceil(std::min(cycles, static_cast<double>(std::int64_t{1} << 50))));
}

std::int64_t to_cycles(double seconds, const Target& target) { return whole_cycles(seconds * target.clock_hz); }

TimeTerm dma_term(const LoopNest& nest, const NestCounts& counts, const Target& target, DmaDirection direction) {
  TimeTerm term;
  term.name = direction == DmaDirection::get ? "dma get" : "dma put";
  double seconds = 0;
  std::int64_t bytes = 0;
  std::int64_t startups = 0;
  for (const auto& [id, totals] : counts.dma) {
    const auto& dma = std::get<Dma>(find_statement(nest, id)->node);
    if (dma.direction != direction) continue;
    for (const auto& [block, moved] : totals.bytes_by_block) {
      seconds += static_cast<double>(moved) / dma_bandwidth(target, block);
      bytes += moved;
    }
    const auto busiest = counts.dma_of_busiest_core.find(id);
    if (busiest != counts.dma_of_busiest_core.end()) startups += busiest->second.transfers;
  }
  const std::int64_t startup_cycles =
      whole_cycles(std::round(static_cast<double>(startups) * target.dma_startup_cycles));
  term.cycles = to_cycles(seconds, target) + startup_cycles;
  term.formula =
      fmt::format("{} bytes / {:.2f} GB/s + {} transfers of the busiest core * {} cycles", bytes,
                  seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9 : 0.0, startups, target.dma_startup_cycles);
  term.source = "target: dma_bandwidth by block size, dma_startup_cycles";
  return term;
}

std::string_view form_name(ComputeForm form) {
  switch (form) {
    case ComputeForm::scalar: return "scalar";
    case ComputeForm::vector: return "vector";
    case ComputeForm::register_block: return "register block";
  }
  fail_check("unknown compute form");
}

TimeTerm compute_term(const LoopNest& nest, const Target& target, int id, const ComputeTotals& totals) {
  const auto& compute = std::get<Compute>(find_statement(nest, id)->node);
  const Stage& stage = nest.stages.stages[static_cast<std::size_t>(compute.stage)];
  const bool finish = compute.part == Compute::Part::finish;
  const std::int64_t operations = operations_of(stage, compute.part);
  const bool vectorised = compute.form != ComputeForm::scalar && is_contiguous_along_lane(nest, compute);
  const double rate = vectorised ? target.vector_flops_per_cycle : target.scalar_flops_per_cycle;
  TimeTerm term;
  term.name = fmt::format("compute {}{}", stage.name, finish ? " finish" : "");
  term.cycles = whole_cycles(static_cast<double>(totals.points_of_busiest) * static_cast<double>(operations) / rate);
  term.formula = fmt::format("{} points of the busiest core * {} operations / {} per cycle ({}{})",
                             totals.points_of_busiest, operations, rate, form_name(compute.form),
                             compute.form != ComputeForm::scalar && !vectorised ? ", strided: scalar rate" : "");
  term.source = vectorised ? "target: vector_flops_per_cycle" : "target: scalar_flops_per_cycle";
  return term;
}

constexpr int fill_elements_per_cycle = 1;

TimeTerm fill_term(const NestCounts& counts) {
  std::int64_t elements = 0;
  for (const auto& [id, totals] : counts.fill) elements += totals.elements_of_busiest;
  TimeTerm term;
  term.name = "fill";
  term.cycles = elements / fill_elements_per_cycle;
  term.formula = fmt::format("{} elements of the busiest core / {} per cycle", elements, fill_elements_per_cycle);
  term.source = "emitted code: one store an element, which a core can do every cycle";
  return term;
}

}  // namespace

TimeEstimate estimate_time(const LoopNest& nest, const NestCounts& counts, const Target& target) {
  TimeEstimate estimate;
  TimeTerm launch;
  launch.name = "launch";
  launch.cycles = to_cycles(target.launch_seconds, target);
  launch.formula = fmt::format("{} us * {} MHz", target.launch_seconds * 1e6, target.clock_hz / 1e6);
  launch.source = "target: launch_seconds";
  estimate.terms.push_back(std::move(launch));
  estimate.terms.push_back(dma_term(nest, counts, target, DmaDirection::get));
  for (const auto& [id, totals] : counts.compute) {
    estimate.terms.push_back(compute_term(nest, target, id, totals));
  }
  if (!counts.fill.empty()) estimate.terms.push_back(fill_term(counts));
  estimate.terms.push_back(dma_term(nest, counts, target, DmaDirection::put));
  for (const TimeTerm& term : estimate.terms) estimate.cycles += term.cycles;
  estimate.seconds = static_cast<double>(estimate.cycles) / target.clock_hz;
  return estimate;
}

}  // namespace stowage
