// SPDX-License-Identifier: Apache-2.0
#include "driver/athread/nest_timeline.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "lowering/simulate/execution_cost.h"

namespace stowage {

namespace {

using Kind = Timeline::Slice::Kind;

/// Numbers that are kept for the tracks of one core's transfers.
constexpr int most_lanes = 1000;

std::string label_of(const LoopNest& nest, Kind kind, StatementId statement) {
  switch (kind) {
    case Kind::compute: return statement_name(nest, statement);
    case Kind::issue: return "issue " + statement_name(nest, statement);
    case Kind::wait_for_get:
    case Kind::wait_for_put: return "wait for " + statement_name(nest, statement);
    case Kind::wait_at_barrier: return "wait at barrier";  // which may belong to a get of a team, or to a wait for one
  }
  fail_check("unknown kind of slice");
}

std::string category_of(Kind kind) {
  return kind == Kind::compute ? "compute" : kind == Kind::issue ? "issue" : "wait";
}

class TimelineMaker {
 public:
  TimelineMaker(const LoopNest& nest, const Target& target, const Simulation& simulation, const Timeline& timeline)
      : nest_(nest), target_(target), simulation_(simulation), timeline_(timeline) {}

  StepTimeline run() {
    made_.cycles = simulation_.cycles;
    for (std::size_t core = 0; core < simulation_.cores.size(); ++core) {
      made_.tracks.push_back({"cores", fmt::format("core {}", core), static_cast<int>(core)});
    }
    if (simulation_.launch_cycles > 0) {
      made_.labels.push_back({"launch", "launch", std::nullopt});
      for (int core = 0; core < static_cast<int>(simulation_.cores.size()); ++core) {
        made_.slices.push_back({core, 0, 0, simulation_.launch_cycles});
      }
    }
    const std::size_t first = made_.slices.size();
    for (const Timeline::Slice& slice : timeline_.slices) {
      made_.slices.push_back({slice.core, label(slice.kind, slice.statement), slice.from, slice.to});
    }
    add_transfers(first);
    add_bandwidth();
    made_.counters.push_back(
        {"LDM KiB of a core", {{0, static_cast<double>(nest_.ldm_bytes) / 1024}, {made_.cycles, 0}}});
    return std::move(made_);
  }

 private:
  /// Of a slice of a core; without a kind of a transfer.
  int label(std::optional<Kind> kind, StatementId statement) {
    const auto [found, is_new] = labels_.try_emplace({kind, statement}, static_cast<int>(made_.labels.size()));
    if (is_new && kind) made_.labels.push_back({label_of(nest_, *kind, statement), category_of(*kind), statement});
    if (is_new && !kind) made_.labels.push_back({statement_name(nest_, statement), "transfer", statement});
    return found->second;
  }

  /// Each on the first track of its core that is free.
  void add_transfers(std::size_t first_slice) {
    std::vector<std::size_t> order(timeline_.transfers.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const Timeline::Transfer& left = timeline_.transfers[a];
      const Timeline::Transfer& right = timeline_.transfers[b];
      return std::pair(left.core, left.begun) < std::pair(right.core, right.begun);
    });
    struct Lane {
      int track = 0;
      std::int64_t free = 0;
    };
    std::map<int, std::vector<Lane>> lanes;  // by core
    for (const std::size_t i : order) {
      const Timeline::Transfer& transfer = timeline_.transfers[i];
      std::vector<Lane>& of_core = lanes[transfer.core];
      auto lane =
          std::find_if(of_core.begin(), of_core.end(), [&](const Lane& one) { return one.free <= transfer.begun; });
      if (lane == of_core.end()) {
        of_core.push_back({static_cast<int>(made_.tracks.size()), 0});
        made_.tracks.push_back({"DMA", fmt::format("core {}, {}", transfer.core, of_core.size()),
                                transfer.core * most_lanes + static_cast<int>(of_core.size()) - 1});
        lane = of_core.end() - 1;
      }
      lane->free = transfer.ended;
      if (transfer.wait) {
        made_.flows.push_back({made_.slices.size(), first_slice + *transfer.wait});
      }
      made_.slices.push_back({lane->track, label(std::nullopt, transfer.statement), transfer.begun, transfer.ended});
    }
  }

  /// Of all transfers whose data move, each with its share of the engine.
  void add_bandwidth() {
    struct Change {
      double rate = 0;
      std::int64_t transfers = 0;
    };
    std::map<std::int64_t, Change> changes;
    for (const Timeline::Transfer& transfer : timeline_.transfers) {
      const double alone = static_cast<double>(transfer.bytes) * static_cast<double>(parts_of_cycle) *
                           target_.clock_hz / static_cast<double>(std::max<std::int64_t>(1, transfer.engine_parts));
      changes[transfer.moves].rate += alone;
      ++changes[transfer.moves].transfers;
      changes[transfer.ended].rate -= alone;
      --changes[transfer.ended].transfers;
    }
    StepTimeline::Counter bandwidth{"DMA GB/s", {}};
    StepTimeline::Counter moving{"transfers that move", {}};
    Change now;
    for (const auto& [cycle, change] : changes) {
      now.rate += change.rate;
      now.transfers += change.transfers;
      const double shared = now.transfers == 0 ? 0 : now.rate / static_cast<double>(now.transfers);
      bandwidth.values.push_back({cycle, shared / 1e9});
      moving.values.push_back({cycle, static_cast<double>(now.transfers)});
    }
    made_.counters.push_back(std::move(bandwidth));
    made_.counters.push_back(std::move(moving));
  }

  const LoopNest& nest_;
  const Target& target_;
  const Simulation& simulation_;
  const Timeline& timeline_;
  StepTimeline made_;
  std::map<std::pair<std::optional<Kind>, StatementId>, int> labels_;
};

}  // namespace

StepTimeline step_timeline(const LoopNest& nest, const Target& target, const Simulation& simulation,
                           const Timeline& timeline) {
  return TimelineMaker(nest, target, simulation, timeline).run();
}

std::string statement_name(const LoopNest& nest, StatementId id) {
  const Stmt* const statement = find_statement(nest, id);
  check(statement != nullptr, "times of a statement that there is not");
  if (const auto* dma = std::get_if<Dma>(&statement->node)) {
    return fmt::format("{} {}", dma->direction == DmaDirection::get ? "get" : "put",
                       nest.tensors[dma->nest_tensor].name);
  }
  if (const auto* fill = std::get_if<Fill>(&statement->node)) {
    return fmt::format("fill {}", nest.buffers[fill->buffer].name);
  }
  if (std::holds_alternative<Barrier>(statement->node)) return "barrier";
  const auto& compute = std::get<Compute>(statement->node);
  return fmt::format("compute {}{}", nest.stages.stages[compute.stage].name,
                     compute.part == Compute::Part::finish ? " finish" : "");
}

}  // namespace stowage
