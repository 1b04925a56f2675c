// SPDX-License-Identifier: Apache-2.0
// How many schedules a planner's search can look at on one core, of a product of 512 x 784 x 512 on sw26010.
// "schedules/s" counts each of them once:
//   bounded     what no schedule over a grid with such tiles can go below, as branch and bound asks for it (promised:
//               100,000 a second)
//   given_up    the same of a complete schedule, as a search asks before it plans it to the end
//   divided     in a whole search: every set of schedules with its choices, what fits, its orders and its bounds
//   planned     lowered, counted and timed
#include <benchmark/benchmark.h>

#include <limits>
#include <stdexcept>
#include <variant>

#include "lowering/model/buffer_slots.h"
#include "lowering/model/residents.h"
#include "lowering/model/sharing.h"
#include "lowering/search/branch_and_bound.h"
#include "lowering/search/core_grids.h"
#include "lowering/search/planner_searched.h"
#include "lowering/swtvm/read_schedule.h"
#include "tests/lowering/fixtures.h"
#include "tests/sunway.h"

namespace stowage {
namespace {

/// A group with the plan of planner searched.
struct Planned {
  Target target = fixtures::sunway();
  StageList stages = fixtures::matmul_stages(512, 784, 512);
  GroupModel model = build_group_model(stages, target);
  Schedule schedule = std::get<Schedule>(SearchedPlanner().complete("product", stages, {}, target, {}));
  ReadSchedule read = std::get<ReadSchedule>(read_schedule(model, schedule));
};

void bounded(benchmark::State& state) {
  const Planned of;
  const PlanBounds bounds(of.model, of.target);
  const GridBounds over = bounds.over(*of.schedule.parallel);
  GridTiling tiling;
  tiling.slots = slots_by_buffer(of.model, of.schedule.slots);
  tiling.sizes = of.read.sizes;
  tiling.meeting.assign(of.model.buffers.size(), true);
  tiling.again.assign(of.model.buffers.size(), 2);
  for (const BufferId b : of.model.buffers.ids())
    tiling.extents.push_back(buffer_extents(of.model, b, of.read.sizes, of.read.residents));
  const auto sharing = sharing_by_buffer(of.model, of.schedule.sharing);
  for (auto _ : state) benchmark::DoNotOptimize(over.least_cycles(tiling, sharing));
  state.counters["schedules/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void given_up(benchmark::State& state) {
  const Planned of;
  const PlanBounds bounds(of.model, of.target);
  const GridBounds over = bounds.over(*of.schedule.parallel);
  for (auto _ : state) {
    const auto read = read_schedule(of.model, of.schedule);
    benchmark::DoNotOptimize(over.least_cycles(std::get<ReadSchedule>(read),
                                               slots_by_buffer(of.model, of.schedule.slots),
                                               sharing_by_buffer(of.model, of.schedule.sharing)));
  }
  state.counters["schedules/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void divided(benchmark::State& state) {
  const Planned of;
  const auto begin = try_schedule("product", of.model, of.schedule, of.target, false);
  if (!begin) throw std::runtime_error("the plan cannot be planned again");
  std::int64_t looked_at = 0;
  for (auto _ : state) {
    const SearchStart start{begin->cycles, std::numeric_limits<std::int64_t>::max()};
    looked_at += search_space("product", of.model, {}, of.target, start, {1'000'000, 10'000}, {}).certificate.bounded;
  }
  state.counters["schedules/s"] = benchmark::Counter(static_cast<double>(looked_at), benchmark::Counter::kIsRate);
}

void planned(benchmark::State& state) {
  const Planned of;
  for (auto _ : state) benchmark::DoNotOptimize(try_schedule("product", of.model, of.schedule, of.target, false));
  state.counters["schedules/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

BENCHMARK(bounded);
BENCHMARK(given_up);
BENCHMARK(divided)->Unit(benchmark::kMillisecond);
BENCHMARK(planned)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace stowage
