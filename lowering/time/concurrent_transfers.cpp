// SPDX-License-Identifier: Apache-2.0
#include "lowering/time/concurrent_transfers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace stowage {
namespace {

struct Concurrent {
  TransferCost* cost = nullptr;
  bool blocks = false;  ///< one slot
};
using Run = std::vector<Concurrent>;

/// All but one of those that start together have started when that one has: the one that does so most often.
void start_together(const Run& run, bool blocks) {
  const TransferCost* most = nullptr;
  for (const Concurrent& one : run) {
    if (one.blocks != blocks) continue;
    if (most == nullptr || one.cost->transfers_of_busiest > most->transfers_of_busiest) most = one.cost;
  }
  for (const Concurrent& one : run) {
    if (one.blocks != blocks || one.cost == most || one.cost->issue_cycles <= 0) continue;
    one.cost->filled_cycles +=
        std::llround(static_cast<double>(one.cost->transfers_of_busiest) * one.cost->startup_cycles);
  }
}

void move_together(const Run& run) {
  double moved = 0;    // by the engine
  double of_core = 0;  // that takes most
  double apart = 0;
  for (const Concurrent& one : run) {
    const TransferCost* const cost = one.cost;
    const double alone = moving_seconds(*cost);
    moved += alone - cost->one_core_seconds;
    of_core += cost->busiest_seconds;
    apart += alone;
  }
  double saved = apart - std::max(moved, of_core);
  for (const Concurrent& one : run) {
    TransferCost* const cost = one.cost;
    const double of_this = std::min(saved, cost->one_core_seconds);
    cost->filled_cycles = std::llround(std::max(0.0, of_this * cost->clock_hz));
    saved -= of_this;
  }
}

}  // namespace

CostTable with_concurrent_transfers(CostTable table, const LoopNest& nest) {
  const auto cost_of = [&](const Stmt& s) -> TransferCost* {
    const auto row = std::find_if(table.begin(), table.end(), [&](const Cost& cost) { return cost.statement == s.id; });
    return row == table.end() ? nullptr : std::get_if<TransferCost>(&row->formula);
  };
  Run run;
  const auto end_run = [&] {
    if (run.size() > 1) {
      move_together(run);
      start_together(run, true);
      start_together(run, false);
    }
    run.clear();
  };
  const std::function<void(const Block&)> look_at = [&](const Block& block) {
    for (const StmtPtr& s : block) {
      if (std::holds_alternative<Let>(s->node)) continue;
      if (const auto* dma = std::get_if<Dma>(&s->node)) {
        if (TransferCost* cost = cost_of(*s)) run.push_back({cost, nest.buffers[dma->buffer].slots == 1});
        continue;
      }
      end_run();
      if (const Block* body = body_of(*s)) look_at(*body);
      end_run();
    }
    end_run();
  };
  look_at(nest.body);
  return table;
}

}  // namespace stowage
