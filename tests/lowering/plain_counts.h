// SPDX-License-Identifier: Apache-2.0
// Counts of a nest that was walked, to hold those in closed form against.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include <catch2/catch.hpp>

#include "lowering/ir/mesh.h"
#include "lowering/time/counts.h"
#include "tests/lowering/nest_walk.h"

namespace stowage::test {

/// The obvious way: every core walks every trip of every loop.
class PlainWalk {
 public:
  explicit PlainWalk(const LoopNest& nest) : nest_(nest) {}

  NestCounts run() {
    visit_statements(nest_.body, [&](const Stmt& s) {
      if (std::holds_alternative<Dma>(s.node)) counts_.dma[s.id], dma_of_core_[s.id];
      if (std::holds_alternative<Compute>(s.node)) counts_.compute[s.id];
      if (std::holds_alternative<Fill>(s.node)) counts_.fill[s.id];
    });
    std::int64_t max_bytes = -1;
    for (int core = 0; core < nest_.cores_used(); ++core) {
      for (auto& [id, totals] : dma_of_core_) totals = {};
      points_of_core_.clear();
      elements_of_core_.clear();
      core_ = core;
      NestWalk walk(nest_, core);
      walk.run(nest_.body, [&](const Stmt& s) { visit(walk, s); });
      std::int64_t bytes = 0;
      for (const auto& [id, totals] : dma_of_core_) bytes += totals.bytes;
      if (bytes > max_bytes) {
        max_bytes = bytes;
        counts_.dma_of_busiest_core = dma_of_core_;
      }
      for (const auto& [id, points] : points_of_core_) {
        counts_.compute[id].points_of_busiest = std::max(counts_.compute[id].points_of_busiest, points);
      }
      for (const auto& [id, elements] : elements_of_core_) {
        counts_.fill[id].elements_of_busiest = std::max(counts_.fill[id].elements_of_busiest, elements);
      }
    }
    return counts_;
  }

 private:
  void visit(const NestWalk& walk, const Stmt& s) {
    if (const auto* dma = std::get_if<Dma>(&s.node)) {
      if (dma->to != Space::ldm && !is_first_of(nest_, dma->to, core_)) return;
      std::vector<std::int64_t> extents;
      for (const Range& range : dma->region) extents.push_back(walk.value(range.extent));
      const DmaShape shape = shape_of(nest_, *dma);
      const DmaCount count = count_operations(shape, extents);
      if (count.operations == 0) return;
      const int size = byte_size(nest_.buffers[dma->buffer].type);
      // Contiguous calls move whole units.
      std::int64_t of_call = count.elements / count.operations * size;
      if (!calls_of(shape, extents).is_strided())
        of_call = (of_call + dma->unit_bytes - 1) / dma->unit_bytes * dma->unit_bytes;
      const std::int64_t bytes = count.operations * of_call;
      for (DmaTotals* totals : {&counts_.dma[s.id], &dma_of_core_[s.id]}) {
        ++totals->transfers;
        totals->operations += count.operations;
        totals->bytes += bytes;
        totals->operations_by_block[count.block_elements * size] += count.operations;
        totals->bytes_by_block[count.block_elements * size] += bytes;
      }
    } else if (const auto* compute = std::get_if<Compute>(&s.node)) {
      std::int64_t points = 1;
      for (const Range& range : compute->box) points *= std::max<std::int64_t>(0, walk.value(range.extent));
      counts_.compute[s.id].points += points;
      points_of_core_[s.id] += points;
    } else if (const auto* fill = std::get_if<Fill>(&s.node)) {
      std::int64_t kept = fill->around ? 1 : 0;
      if (fill->around) {
        for (const Range& range : *fill->around) kept *= std::max<std::int64_t>(0, walk.value(range.extent));
      }
      const auto& extents = nest_.buffers[fill->buffer].extents;
      const bool stored = fill->around || !fill->in_registers;
      const std::int64_t elements = stored ? element_count(extents) - kept : 0;
      counts_.fill[s.id].executions += elements > 0 ? 1 : 0;
      counts_.fill[s.id].elements += elements;
      elements_of_core_[s.id] += elements;
    }
  }

  const LoopNest& nest_;
  int core_ = 0;
  NestCounts counts_;
  std::map<StatementId, DmaTotals> dma_of_core_;
  std::map<StatementId, std::int64_t> points_of_core_;
  std::map<StatementId, std::int64_t> elements_of_core_;
};

inline void compare(const NestCounts& closed, const NestCounts& plain) {
  REQUIRE(closed.dma.size() == plain.dma.size());
  for (const auto& [id, totals] : plain.dma) {
    CAPTURE(id, totals.transfers, totals.operations, totals.bytes);
    const DmaTotals& predicted = closed.dma.at(id);
    CAPTURE(predicted.transfers, predicted.operations, predicted.bytes);
    CHECK(predicted == totals);
    CHECK(closed.dma_of_busiest_core.at(id) == plain.dma_of_busiest_core.at(id));
  }
  REQUIRE(closed.compute.size() == plain.compute.size());
  for (const auto& [id, totals] : plain.compute) {
    CAPTURE(id);
    CHECK(closed.compute.at(id).points == totals.points);
    CHECK(closed.compute.at(id).points_of_busiest == totals.points_of_busiest);
  }
  REQUIRE(closed.fill.size() == plain.fill.size());
  for (const auto& [id, totals] : plain.fill) {
    CAPTURE(id);
    CHECK(closed.fill.at(id).executions == totals.executions);
    CHECK(closed.fill.at(id).elements == totals.elements);
    CHECK(closed.fill.at(id).elements_of_busiest == totals.elements_of_busiest);
  }
}

}  // namespace stowage::test
