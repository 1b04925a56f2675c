// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/counts.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "core/athread_machine.h"
#include "core/check.h"
#include "lowering/ir/enclosing.h"
#include "lowering/ir/mesh.h"
#include "lowering/ir/sliding_windows.h"
#include "lowering/ir/team_barriers.h"
#include "lowering/time/dma_totals.h"
#include "lowering/time/extent_histograms.h"
#include "lowering/time/lookahead.h"

namespace stowage {
namespace {

/// Those that have points.
BoxCounts boxes_of(std::span<const Histogram* const> factors, std::size_t rank) {
  BoxCounts boxes;
  for_each_box(factors, rank, [&](const Extents& extents, std::int64_t executions) {
    if (std::all_of(extents.begin(), extents.end(), [](std::int64_t e) { return e > 0; })) boxes[extents] += executions;
  });
  return boxes;
}

DmaTotals totals_of(std::span<const Histogram* const> factors, const DmaShape& shape, int element_bytes,
                    int unit_bytes) {
  DmaTotals totals;
  for_each_box(factors, shape.full.size(), [&](const Extents& extents, std::int64_t executions) {
    const DmaCount count = count_operations(shape, extents);
    if (count.operations == 0) return;
    // Contiguous calls are all of one length.
    const bool strided = calls_of(shape, extents).is_strided();
    const std::int64_t of_call = count.elements / count.operations * element_bytes;
    const std::int64_t moved = strided ? of_call : (of_call + unit_bytes - 1) / unit_bytes * unit_bytes;
    const std::int64_t bytes = count.operations * moved * executions;
    const std::int64_t block = count.block_elements * element_bytes;
    totals.transfers += executions;
    totals.operations += count.operations * executions;
    totals.bytes += bytes;
    totals.operations_by_block[block] += count.operations * executions;
    totals.bytes_by_block[block] += bytes;
  });
  return totals;
}

std::int64_t elements_inside(const Extents& box) {
  return std::accumulate(box.begin(), box.end(), std::int64_t{1},
                         [](std::int64_t n, std::int64_t extent) { return n * std::max<std::int64_t>(0, extent); });
}

class NestCounter {
 public:
  /// `first_of`: gets of all trips → of the first ones, which are not theirs.
  NestCounter(const LoopNest& nest, std::map<StatementId, std::vector<StatementId>> first_of)
      : nest_(nest), first_of_(std::move(first_of)), coordinates_are_digits_(core_number(nest).has_value()) {
    for (const CoreAxis& axis : nest.core_grid) core_variables_.insert(axis.variable.index());
    for (std::int64_t core = 0; core < nest.cores_used(); ++core) core_values_.push_back(values_of_core(nest, core));
    bytes_of_core_.resize(core_values_.size(), 0);
  }

  /// Of the nest as it is, guards for the next trip and all.
  std::map<StatementId, TeamMeetings> count_meetings() const {
    std::map<StatementId, TeamMeetings> counted;
    const TeamBarriers barriers = team_barriers(nest_);
    if (!barriers.any()) return counted;
    visit_with_enclosing(nest_, [&](const Stmt& statement, const Enclosing& enclosing) {
      if (!barriers.before.contains(statement.id) && !barriers.after.contains(statement.id)) return;
      const auto sent = barriers.sent_at.find(statement.id);
      const bool is_broadcast = barriers.awaits_broadcast(statement.id);
      const std::span<const Range> region =
          is_broadcast ? std::span<const Range>(sent->second.broadcast->region) : std::span<const Range>();
      const auto measured = [&](std::span<const Histogram* const> factors) {
        TeamMeetings each;
        for_each_box(factors, region.size(), [&](const Extents& box, std::int64_t executions) {
          if (is_broadcast && elements_inside(box) == 0) return;  // nothing is sent, so nobody waits
          each.times += executions;
          if (sent != barriers.sent_at.end()) each.registers += executions * registers_of(sent->second, box);
        });
        return each;
      };
      TeamMeetings& most = counted[statement.id];
      for (const auto& [each, cores] : of_cores<TeamMeetings>(enclosing, region, measured).alike) {
        most.times = std::max(most.times, each.times);
        most.registers = std::max(most.registers, each.registers);
      }
    });
    return counted;
  }

  ComputeCounts count_computations() const {
    ComputeCounts counted;
    visit_with_enclosing(nest_, [&](const Stmt& statement, const Enclosing& enclosing) {
      const auto* compute = std::get_if<Compute>(&statement.node);
      if (compute != nullptr) counted.emplace(statement.id, count(*compute, enclosing));
    });
    return counted;
  }

  /// All but meetings and computations.
  NestCounts run() {
    visit_with_enclosing(nest_, [&](const Stmt& statement, const Enclosing& enclosing) {
      if (const auto* dma = std::get_if<Dma>(&statement.node)) count(statement.id, *dma, enclosing);
      if (const auto* fill = std::get_if<Fill>(&statement.node)) count(statement.id, *fill, enclosing);
    });
    for (const auto& [all, firsts] : first_of_) {
      for (const StatementId first : firsts) take_off(all, first);
    }
    const auto busiest = static_cast<std::size_t>(
        std::distance(bytes_of_core_.begin(), std::max_element(bytes_of_core_.begin(), bytes_of_core_.end())));
    for (auto& [statement, of_core] : dma_of_core_) counts_.dma_of_busiest_core[statement] = *of_core[busiest];
    count_most_calls(busiest);
    return std::move(counts_);
  }

 private:
  /// What a core's sender sends, of a broadcast a box of these extents.
  [[nodiscard]] std::int64_t registers_of(const SentBox& sent, const Extents& box) const {
    const Buffer& buffer = nest_.buffers[sent.to.buffer];
    const std::int64_t bytes = sent.broadcast ? elements_inside(box) * byte_size(buffer.type) : buffer.box_bytes();
    return ceil_div(bytes, bytes_of_register);
  }

  void count(StatementId statement, const Dma& dma, const Enclosing& enclosing) {
    ExtentCounter counter(enclosing, dma.region, core_variables_);
    const DmaShape shape = shape_of(nest_, dma);
    const int element_bytes = byte_size(nest_.buffers[dma.buffer].type);
    struct Result {
      std::shared_ptr<const DmaTotals> totals;
      std::int64_t cores = 0;
    };
    std::map<std::vector<const Histogram*>, Result> results;
    auto& of_core = dma_of_core_[statement];
    of_core.reserve(core_values_.size());
    const auto nothing = std::make_shared<const DmaTotals>();
    std::vector<Result*> result_of(core_values_.size(), nullptr);
    for (std::size_t core = 0; core < core_values_.size(); ++core) {
      if (!moves(dma, static_cast<int>(core))) {
        of_core.push_back(nothing);
        continue;
      }
      const std::size_t first = first_alike(counter, core);
      if (result_of[first] == nullptr) {
        auto factors = counter.histograms(core_values_[core]);
        Result& result = results[factors];
        if (!result.totals)
          result.totals = std::make_shared<const DmaTotals>(totals_of(factors, shape, element_bytes, dma.unit_bytes));
        result_of[first] = &result;
      }
      Result& result = *result_of[first];
      ++result.cores;
      bytes_of_core_[core] += result.totals->bytes;
      of_core.push_back(result.totals);
    }
    DmaTotals& total = counts_.dma[statement];
    for (const auto& [factors, result] : results) add(total, *result.totals, result.cores);
  }

  /// The first trip's transfer is another statement's.
  void take_off(StatementId statement, StatementId first) {
    DmaTotals& total = counts_.dma.at(statement);
    total = difference(total, counts_.dma.at(first));
    std::map<std::pair<const DmaTotals*, const DmaTotals*>, std::shared_ptr<const DmaTotals>> known;
    auto& of_core = dma_of_core_.at(statement);
    for (std::size_t core = 0; core < of_core.size(); ++core) {
      const auto& of_first = dma_of_core_.at(first)[core];
      auto& left = known[{of_core[core].get(), of_first.get()}];
      if (!left) left = std::make_shared<const DmaTotals>(difference(*of_core[core], *of_first));
      of_core[core] = left;
      bytes_of_core_[core] -= of_first->bytes;
    }
  }

  void count_most_calls(std::size_t busiest) {
    std::vector<std::int64_t> calls(core_values_.size(), 0);
    for (const auto& [statement, of_core] : dma_of_core_) {
      for (std::size_t core = 0; core < calls.size(); ++core) calls[core] += of_core[core]->operations;
    }
    const auto most =
        static_cast<std::size_t>(std::distance(calls.begin(), std::max_element(calls.begin(), calls.end())));
    if (calls[most] <= calls[busiest]) return;
    CallingCore& core = counts_.most_calls.emplace();
    for (const auto& [statement, of_core] : dma_of_core_) core.operations[statement] = of_core[most]->operations;
    visit_with_enclosing(nest_, [&](const Stmt& statement, const Enclosing& enclosing) {
      const auto* compute = std::get_if<Compute>(&statement.node);
      if (compute == nullptr) return;
      ExtentCounter counter(enclosing, compute->box, core_variables_);
      core.points[statement.id] = points_of(counter.histograms(core_values_[most]));
    });
  }

  /// What a team gets leaves main memory once; its first core is the one that asks for it.
  [[nodiscard]] bool moves(const Dma& dma, int core) const {
    return dma.to == Space::ldm || Teams(nest_, dma.to).index_in_team(core) == 0;
  }

  [[nodiscard]] ComputeTotals count(const Compute& compute, const Enclosing& enclosing) const {
    ComputeTotals total;
    const auto measured = [&](std::span<const Histogram* const> factors) {
      return std::pair(points_of(factors), boxes_of(factors, compute.box.size()));
    };
    auto [alike, of_core] = of_cores<std::pair<std::int64_t, BoxCounts>>(enclosing, compute.box, measured);
    for (auto& [each, cores] : alike) {
      total.points += each.first * cores;
      total.points_of_busiest = std::max(total.points_of_busiest, each.first);
      total.boxes.push_back(std::move(each.second));
    }
    total.boxes_of_core = std::move(of_core);
    return total;
  }

  void count(StatementId statement, const Fill& fill, const Enclosing& enclosing) {
    const Extents& extents = nest_.buffers[fill.buffer].extents;
    const std::span<const Range> kept = fill.around ? std::span<const Range>(*fill.around) : std::span<const Range>();
    const auto filled = [&](std::span<const Histogram* const> factors) {
      FillTotals each;
      for_each_box(factors, kept.size(), [&](const Extents& box, std::int64_t executions) {
        const bool stored = fill.around || !fill.in_registers;
        const std::int64_t elements = stored ? element_count(extents) - (fill.around ? elements_inside(box) : 0) : 0;
        each.executions += elements > 0 ? executions : 0;
        each.elements += elements * executions;
      });
      return each;
    };
    FillTotals& total = counts_.fill[statement];
    const auto [alike, of_core] = of_cores<FillTotals>(enclosing, kept, filled);
    for (const auto& [each, cores] : alike) {
      total.executions += each.executions * cores;
      total.elements += each.elements * cores;
      total.elements_of_busiest = std::max(total.elements_of_busiest, each.elements);
    }
    for (const std::size_t which : of_core) total.elements_of_core.push_back(alike[which].first.elements);
  }

  template <class Measured>
  struct OfCores {
    std::vector<std::pair<Measured, std::int64_t>> alike;  ///< with the number of cores
    std::vector<std::size_t> of_core;                      ///< by core: which of them
  };

  /// What `measure` makes of the histograms of a box, each different one once.
  template <class Measured, class Measure>
  [[nodiscard]] OfCores<Measured> of_cores(const Enclosing& enclosing, std::span<const Range> box,
                                           const Measure& measure) const {
    ExtentCounter counter(enclosing, box, core_variables_);
    OfCores<Measured> measured;
    std::map<std::vector<const Histogram*>, std::size_t> known;
    measured.of_core.reserve(core_values_.size());
    for (std::size_t core = 0; core < core_values_.size(); ++core) {
      const std::size_t first = first_alike(counter, core);
      if (first < core) {
        measured.of_core.push_back(measured.of_core[first]);
      } else {
        const auto [found, is_new] = known.try_emplace(counter.histograms(core_values_[core]), measured.alike.size());
        if (is_new) measured.alike.emplace_back(measure(found->first), 0);
        measured.of_core.push_back(found->second);
      }
      ++measured.alike[measured.of_core.back()].second;
    }
    return measured;
  }

  /// The first core that has the same coordinates as this one, as far as a counter asks for them.
  [[nodiscard]] std::size_t first_alike(const ExtentCounter& counter, std::size_t core) const {
    std::size_t first = 0;
    if (coordinates_are_digits_) {  // as lowering has them: then they add up to the core's number
      for (const CoreAxis& axis : nest_.core_grid) {
        if (!counter.uses(axis.variable.index())) continue;
        const auto stride = static_cast<std::size_t>(axis.stride);
        first += core / stride % static_cast<std::size_t>(axis.parts) * stride;
      }
      return first;
    }
    const auto is_alike = [&](const CoreAxis& axis) {
      const std::size_t v = axis.variable.index();
      return !counter.uses(v) || core_values_[first][v] == core_values_[core][v];
    };
    while (!std::all_of(nest_.core_grid.begin(), nest_.core_grid.end(), is_alike)) ++first;
    return first;
  }

  const LoopNest& nest_;
  const std::map<StatementId, std::vector<StatementId>> first_of_;  ///< gets of all trips → of the first ones
  const bool coordinates_are_digits_;  ///< of the cores' numbers; a nest from elsewhere may have others
  VarSet core_variables_;
  std::vector<std::vector<std::int64_t>> core_values_;  ///< by core, by variable
  NestCounts counts_;
  std::map<StatementId, std::vector<std::shared_ptr<const DmaTotals>>> dma_of_core_;
  std::vector<std::int64_t> bytes_of_core_;
};

}  // namespace

std::vector<std::optional<std::int64_t>> known_extents(const Dma& dma) {
  std::vector<std::optional<std::int64_t>> known;
  for (const Range& range : dma.region)
    known.push_back(range.extent.is_constant() ? std::optional(range.extent.constant()) : std::nullopt);
  return known;
}

DmaShape shape_of(const LoopNest& nest, const Dma& dma) {
  Extents full;
  for (const Range& range : dma.region) full.push_back(range.max_extent);
  return dma_shape(full, nest.buffers[dma.buffer].extents, nest.tensors[dma.nest_tensor].strides);
}

ComputeCounts count_computations(const LoopNest& nest) {
  const ComputedBoxes computed(nest);
  return NestCounter(computed.nest(), {}).count_computations();
}

NestCounts predict_counts(const LoopNest& nest) { return predict_counts(nest, count_computations(nest)); }

NestCounts predict_counts(const LoopNest& given, ComputeCounts computations) {
  const ComputedBoxes computed(given);
  const LoopNest& nest = computed.nest();
  const auto has_slots = [](const Buffer& buffer) { return buffer.slots > 1; };
  std::map<StatementId, TeamMeetings> meetings = NestCounter(nest, {}).count_meetings();
  NestCounts counts;
  if (std::none_of(nest.buffers.begin(), nest.buffers.end(), has_slots)) {
    counts = NestCounter(nest, {}).run();
  } else {
    const WithoutLookahead counted = without_lookahead(nest);
    counts = NestCounter(counted.nest, counted.first_of).run();
  }
  counts.compute = std::move(computations);
  counts.meetings = std::move(meetings);
  return counts;
}

}  // namespace stowage
