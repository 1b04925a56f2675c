// SPDX-License-Identifier: Apache-2.0
// Planner "searched": never worse than the published plan, exhaustive over the splits, obedient to what is fixed, and
// it tells what it tried.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <map>
#include <random>

#include <fmt/format.h>

#include "core/temporary_folder.h"
#include "core/trace/of_planner.h"
#include "lowering/interpret/interpret.h"
#include "lowering/model/buffer_slots.h"
#include "lowering/model/group_model.h"
#include "lowering/model/idle_parts.h"
#include "lowering/model/planner.h"
#include "lowering/model/stage_form.h"
#include "lowering/nest/plan.h"
#include "lowering/program/plan_group.h"
#include "lowering/program/planned_cost.h"
#include "lowering/program/planners.h"
#include "lowering/search/core_grids.h"
#include "lowering/swtvm/idle_slots.h"
#include "lowering/swtvm/planner_swtvm.h"
#include "lowering/verify/verify.h"
#include "tests/fusion/random_net.h"
#include "tests/fusion/random_partition.h"
#include "tests/random_runs.h"
#include "tests/sunway.h"

namespace stowage::searched_test {

using test::number_from;
using namespace stowage::testing;

namespace {

const Planner& searched() { return *find_planner("searched"); }
const Planner& swtvm() { return *find_planner("swtvm"); }

Target sunway(int cores = 64) { return fixtures::sunway({fmt::format("cores.count={}", cores)}); }

/// All operators of a graph as one group.
StageList stages_of(const Graph& graph) {
  const GraphFacts facts(graph);
  std::vector<Member> members;
  for (const OpId op : facts.order) members.push_back({op, op == facts.order.back() ? "anchor" : "producer"});
  return group_stages(graph, make_group(facts, "test", facts.order.back(), members));
}

StageList convolution(std::int64_t channels, std::int64_t size, std::int64_t features) {
  Net net;
  return stages_of(net.done({net.conv("conv", net.input("x", {1, channels, size, size}), features, 3)}));
}

StageList pool_and_convolution() {
  Net net;
  const TensorId x = net.input("x", {1, 24, 14, 14});
  const TensorId p =
      net.op("MaxPool", "pool", {x},
             {{"kernel_shape", std::vector<std::int64_t>{3, 3}}, {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  return stages_of(net.done({net.op("Relu", "relu", {net.conv("conv", p, 12)})}));
}

Plan plan_of(const StageList& stages, const Planner& planner, const Target& target, const Schedule& fixed = {},
             Trace* trace = nullptr) {
  Planned planned = plan_group("group", stages, fixed, planner, target, TraceSink(trace));
  if (const auto* refused = std::get_if<Decision>(&planned)) FAIL(refused->rule << ": " << refused->reason);
  return std::get<Plan>(std::move(planned));
}

Plan plan_over(const StageList& stages, const CoreGrid& grid, const Target& target) {
  Schedule fixed;
  fixed.parallel = grid.parallel;
  return plan_of(stages, swtvm(), target, fixed);
}

/// What the schedule takes with two slots for everything that moves in it, where these fit.
std::int64_t overlapped_cycles(const StageList& stages, const Schedule& schedule, const Target& target) {
  Schedule fixed = schedule;
  for (auto& [tensor, slots] : fixed.slots) slots = 2;
  for (const auto& [tensor, used] : idle_slots(build_group_model(stages, target), fixed)) fixed.slots[tensor] = used;
  const Planned planned = plan_group("group", stages, fixed, swtvm(), target, {});
  const auto* plan = std::get_if<Plan>(&planned);
  return plan == nullptr ? std::numeric_limits<std::int64_t>::max() : plan->time.cycles;
}

double largest_magnitude(const Tensor& tensor) {
  double largest = 1;
  for (std::int64_t i = 0; i < tensor.size(); ++i) largest = std::max(largest, std::abs(tensor.as_double(i)));
  return largest;
}

/// The plan's nest gives what the operators give, inside as well.
void check_values(const Graph& graph, const FusedOperator& group, const LoopNest& nest, const Values& values) {
  std::map<StageTensorId, Tensor> operands;
  double scale = 1;
  for (const StageTensorId t : nest.stages.tensors.ids()) {
    const StageTensor& tensor = nest.stages.tensors[t];
    const StageTensorId at = t;
    if (tensor.role == TensorRole::constant) operands[at] = *tensor.value;
    if (tensor.role == TensorRole::input)
      operands[at] = values.at(graph.tensor(*tensor.source).name).reshaped(tensor.shape);
    if (operands.contains(at)) scale = std::max(scale, largest_magnitude(operands.at(at)));
  }
  for (const auto& [t, computed] : interpret(nest, operands)) {
    const StageTensor& tensor = nest.stages.tensors[t];
    if (!tensor.source) continue;
    INFO(tensor.name);
    const Tensor expected = tensor.role == TensorRole::output ? stored_value(graph, group, tensor, values)
                                                              : values.at(graph.tensor(*tensor.source).name);
    const Tensor as_expected = computed.reshaped(expected.shape());
    const bool inside = tensor.role == TensorRole::intermediate;
    REQUIRE(largest_difference(as_expected, expected, inside) <= 1e-5 * std::max(scale, largest_magnitude(expected)));
  }
}

}  // namespace

TEST_CASE("random groups on random machines: searched plans are sound, right, and never worse than the published") {
  const std::uint64_t seed = number_from("STOWAGE_SEED", 20260401);
  const std::uint64_t rounds = number_from("STOWAGE_ROUNDS", 60);
  int planned = 0;
  int better = 0;
  int bounded = 0;
  int tight = 0;
  int overlapped = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    INFO("STOWAGE_SEED=" << seed + round << " STOWAGE_ROUNDS=1");
    RandomPartition random(static_cast<unsigned>(seed + round));
    const FusedGraph fused = random.make();
    const Values values = run_operators(fused.graph, random_inputs(fused.graph, static_cast<unsigned>(seed + round)));
    const Target target = random.machine();
    std::mt19937 random_grid(static_cast<unsigned>(seed + round));
    for (const FusedOperator& group : fused.groups) {
      if (group.is_view) continue;
      const StageList stages = group_stages(fused.graph, group);
      INFO(group.name << " on " << target.cores.count << " cores with " << target.ldm.bytes << " bytes\n"
                      << to_text(stages));
      const Planned published = plan_group(group.name, stages, {}, swtvm(), target, {});
      const Planned found = plan_group(group.name, stages, {}, searched(), target, {});
      const auto* refused = std::get_if<Decision>(&published);
      if (refused != nullptr && std::holds_alternative<Decision>(found)) {
        CHECK(std::get<Decision>(found) == *refused);
        continue;
      }
      REQUIRE(std::holds_alternative<Plan>(found));
      const Plan& plan = std::get<Plan>(found);
      INFO(to_text(plan.nest));
      REQUIRE(verify(plan.nest, target).value_or("sound") == "sound");
      check_values(fused.graph, group, plan.nest, values);
      ++planned;
      if (refused != nullptr) continue;
      const Plan& before = std::get<Plan>(published);
      CHECK(plan.time.cycles <= before.time.cycles);
      const StageList shaped = std::get<StageList>(in_form(stages, form_of(plan.schedule)));
      const GroupModel model = build_group_model(shaped, target);
      const PlanBounds bounds(model, target);
      // What sizes and order cannot beat, they do not: of the plan, and of plans with sizes drawn at random.
      for (int draw = 0; draw < 6; ++draw) {
        Schedule fixed = with_form({}, form_of(plan.schedule));
        if (draw > 1) fixed.parallel = plan.schedule.parallel;
        for (const auto& [iterator, size] : plan.schedule.buffer) {
          if (draw > 1 && size > 1 && random_grid() % 2 == 0)
            fixed.buffer[iterator] = 1 + static_cast<std::int64_t>(random_grid()) % size;
        }
        for (const auto& [tensor, slots] : plan.schedule.slots) {
          if (draw > 3 && slots > 1) fixed.slots[tensor] = 2;
        }
        const Planned drawn = draw == 0 ? Planned(plan) : plan_group(group.name, stages, fixed, swtvm(), target, {});
        const auto* held = std::get_if<Plan>(&drawn);
        if (held == nullptr) continue;
        const auto read = read_schedule(model, held->schedule);
        const std::int64_t least =
            bounds.least_cycles(std::get<ReadSchedule>(read), slots_by_buffer(model, held->schedule.slots));
        std::string terms;
        for (const TimeTerm& term : held->time.terms)
          terms += name_of(term.cost) + ": " + formula_text(term.cost) + "\n";
        INFO(terms << to_text(held->nest));
        REQUIRE(least <= held->time.cycles);
        overlapped += first_use_of_slots(held->nest) != nullptr ? 1 : 0;
        tight += 2 * least > held->time.cycles ? 1 : 0;
        ++bounded;
      }
      for (const CoreGrid& grid : bounds.grids()) {
        if (random_grid() % 8 != 0) continue;
        Schedule fixed = with_form({}, form_of(plan.schedule));
        fixed.parallel = grid.parallel;
        const Planned over = plan_group(group.name, stages, fixed, swtvm(), target, {});
        const auto* held = std::get_if<Plan>(&over);
        if (held == nullptr) continue;
        std::string terms;
        for (const ParallelSplit& split : grid.parallel) {
          terms += split.iterator + " into " + std::to_string(split.parts) + "\n";
        }
        for (const TimeTerm& term : held->time.terms)
          terms += name_of(term.cost) + ": " + formula_text(term.cost) + "\n";
        INFO(terms);
        REQUIRE(grid.least_cycles <= held->time.cycles);
        REQUIRE(grid.least_overlapped <= grid.least_cycles);
      }
      for (const CoreGrid& grid : bounds.grids()) {
        if (grid.parallel == *plan.schedule.parallel) REQUIRE(grid.least_overlapped <= plan.time.cycles);
      }
      better += plan.time.cycles < before.time.cycles ? 1 : 0;
    }
  }
  INFO(planned << " planned, " << better << " of them better; " << tight << " of " << bounded
               << " bounds more than half of the plan");
  CHECK(2 * tight > bounded);
  CHECK(overlapped > 50);
  CHECK(planned > 100);
  CHECK(better > planned / 4);
}

TEST_CASE("no plan costs less than the bound of its split, and none of the splits is left out") {
  for (const StageList& stages : {convolution(16, 14, 24), convolution(3, 30, 8), pool_and_convolution()}) {
    for (const int cores : {1, 6, 16}) {
      INFO(cores << " cores\n" << to_text(stages));
      const Target target = sunway(cores);
      const GroupModel model = build_group_model(stages, target);
      const auto grids = core_grids(model, target);
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      for (const CoreGrid& grid : grids) {
        const Plan plan = plan_over(stages, grid, target);
        CHECK(grid.least_cycles <= plan.time.cycles);
        CHECK(grid.least_overlapped <= overlapped_cycles(stages, plan.schedule, target));
        least = std::min(least, plan.time.cycles);
      }
      CHECK(std::is_sorted(grids.begin(), grids.end(),
                           [](const CoreGrid& a, const CoreGrid& b) { return a.least_cycles < b.least_cycles; }));
      // The search stops early, but not before it has the best.
      CHECK(plan_of(stages, searched(), target).time.cycles <= least);
    }
  }
  // 12 features, 14 rows, 14 columns on 2 cores: one core, or one of them in two.
  CHECK(core_grids(build_group_model(pool_and_convolution(), sunway(2)), sunway(2)).size() == 4);
}

TEST_CASE("what a person has fixed stays, and the search fills in the rest") {
  const StageList stages = convolution(64, 28, 64);
  const Target target = sunway();
  const Plan free = plan_of(stages, searched(), target);
  CHECK(free.time.cycles < plan_of(stages, swtvm(), target).time.cycles);

  Schedule fixed;
  fixed.parallel = std::vector<ParallelSplit>{{"ff", 64}};
  fixed.buffer["rc"] = 2;
  const Plan held = plan_of(stages, searched(), target, fixed);
  CHECK(held.schedule.parallel == fixed.parallel);
  CHECK(held.schedule.buffer.at("rc") == 2);
  CHECK(held.time.cycles <= plan_of(stages, swtvm(), target, fixed).time.cycles);
  CHECK(held.time.cycles >= free.time.cycles);

  // A size that the published split has no room for: another split has.
  fixed = {};
  fixed.buffer["ff"] = 16;
  CHECK(std::holds_alternative<Decision>(plan_group("group", stages, fixed, swtvm(), target, {})));
  CHECK(plan_of(stages, searched(), target, fixed).schedule.buffer.at("ff") == 16);

  // All of it fixed is that plan, whichever planner is asked; what cannot be is refused as it is by the published
  // planner.
  CHECK(plan_of(stages, searched(), target, free.schedule).time.cycles == free.time.cycles);
  CHECK(plan_of(stages, swtvm(), target, free.schedule).time.cycles == free.time.cycles);
  fixed.buffer["zz"] = 1;
  const Planned wrong = plan_group("group", stages, fixed, searched(), target, {});
  CHECK(std::get<Decision>(wrong) == std::get<Decision>(plan_group("group", stages, fixed, swtvm(), target, {})));
}

TEST_CASE("sizes that single steps do not lead to are found: a step frees the room that another one takes") {
  // The last convolutions of ResNet-50's blocks, and sizes found by hand that beat those of climbs by single steps.
  struct Block {
    std::int64_t channels, size, features, pixels, sum;
  };
  for (const Block& block : {Block{64, 56, 256, 128, 32}, Block{256, 14, 1024, 196, 16}}) {
    Net net;
    const TensorId x = net.input("x", {1, block.channels, block.size, block.size});
    const TensorId rest = net.input("rest", {1, block.features, block.size, block.size});
    const TensorId sum = net.op("Add", "add", {net.conv("conv", x, block.features, 1), rest});
    const StageList stages = stages_of(net.done({net.op("Relu", "relu", {sum})}));
    Schedule by_hand;
    by_hand.buffer = {{"yy_xx", block.pixels}, {"rc", block.sum}};
    INFO(block.channels << " channels");
    CHECK(plan_of(stages, searched(), sunway()).time.cycles <=
          plan_of(stages, searched(), sunway(), by_hand).time.cycles);
  }
}

TEST_CASE("a sum of nothing is planned") {
  Net of_products, of_elements;
  const TensorId product =
      of_products.op("MatMul", "product", {of_products.input("x", {64, 0}), of_products.input("w", {0, 256})});
  const TensorId sum = of_elements.op("ReduceSum", "sum", {of_elements.input("x", {2, 0, 4})},
                                      {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", std::int64_t{1}}});
  for (const StageList& stages : {stages_of(of_products.done({product})), stages_of(of_elements.done({sum}))}) {
    const Plan plan = plan_of(stages, searched(), sunway());
    INFO(to_text(plan.nest));
    CHECK(verify(plan.nest, sunway()).value_or("sound") == "sound");
  }
}

bool has_idle_cores(const GroupModel& model, const std::vector<ParallelSplit>& parallel) {
  return std::any_of(parallel.begin(), parallel.end(), [&](const ParallelSplit& split) {
    return filled_parts(model.iterators[*model.iterator_named(split.iterator)].extent, split.parts) < split.parts;
  });
}

TEST_CASE("rows of 7 pixels are computed faster with idle cores than over any split without") {
  const StageList stages = convolution(64, 7, 160);
  const Target target = sunway();
  Schedule as_they_are;
  as_they_are.lanes.emplace();
  const GroupModel model = build_group_model(stages, target);
  const Plan best = plan_of(stages, searched(), target, as_they_are);
  INFO(to_text(best.nest));
  CHECK(has_idle_cores(model, *best.schedule.parallel));
  std::int64_t tried = 0;
  for (const CoreGrid& grid : core_grids(model, target)) {
    if (has_idle_cores(model, grid.parallel) || grid.least_overlapped >= best.time.cycles) continue;
    Schedule fixed = as_they_are;
    fixed.parallel = grid.parallel;
    CHECK(plan_of(stages, searched(), target, fixed).time.cycles > best.time.cycles);
    ++tried;
  }
  CHECK(tried > 0);
}

TEST_CASE("the search is the same every time and tells what it tried") {
  const StageList stages = convolution(64, 28, 64);
  Schedule as_they_are;
  as_they_are.lanes.emplace();
  Trace trace;
  const Plan plan = plan_of(stages, searched(), sunway(), as_they_are, &trace);
  Trace again;
  CHECK(plan_of(stages, searched(), sunway(), as_they_are, &again).schedule == plan.schedule);
  CHECK(plan_of(stages, searched(), sunway(), as_they_are).schedule == plan.schedule);
  std::string text;
  std::string text_again;
  std::int64_t splits = 0;
  const auto text_of = [](const TraceRecord& record) {
    const TraceHeading at = heading_of(record);
    return at.algorithm + " " + at.rule + " " + sentence(record) + "\n";
  };
  for (const TraceRecord& record : trace.records) {
    text += text_of(record);
    splits += std::holds_alternative<SplitPlanned>(record.what) ? 1 : 0;
    CHECK(is_of_planner(record));
  }
  for (const TraceRecord& record : again.records) text_again += text_of(record);
  INFO(text);
  CHECK(text == text_again);
  CHECK(splits >= 3);
  CHECK(text.find("the published split") != std::string::npos);
  CHECK(text.find("splits were not planned: none of them can take fewer than") != std::string::npos);
  CHECK(text.find("search chosen ") != std::string::npos);
  // The steps of the algorithms are those of the plan that was chosen.
  CHECK(text.find("parallel search split over the cores: ") != std::string::npos);
}

TEST_CASE("a plan with lanes in blocks is told as one, beside no published plan") {
  const StageList stages = convolution(256, 14, 256);
  Trace trace;
  const Plan plan = plan_of(stages, searched(), sunway(), {}, &trace);
  CHECK(plan.schedule.lanes == LaneBlocks{{"ff", 8}});
  CHECK(plan_of(stages, searched(), sunway()).schedule == plan.schedule);
  std::string text;
  for (const TraceRecord& record : trace.records) text += sentence(record) + "\n";
  INFO(text);
  CHECK(text.find("vectors run along ff_lane, blocks of 8") != std::string::npos);
  CHECK(text.find("published") == std::string::npos);
}

TEST_CASE("a reduction whose operands fit whole is cut, so that loads and sums overlap") {
  Net net;
  const TensorId x = net.input("x", {1, 2048});
  const StageList stages = stages_of(net.done({net.op("MatMul", "product", {x, net.constant("w", {2048, 256})})}));
  const Plan plan = plan_of(stages, searched(), sunway());
  INFO(to_text(plan.nest));
  CHECK(plan.schedule.slots.at("w") == 3);
  Schedule whole;
  whole.slots["w"] = 1;
  CHECK(plan.time.cycles < plan_of(stages, searched(), sunway(), whole).time.cycles);
}

TEST_CASE("costs of one planner are not taken for another's") {
  Net net;
  const Graph graph = net.done({net.conv("conv", net.input("x", {1, 64, 28, 28}), 64, 3)});
  const GraphFacts facts(graph);
  const FusedOperator group = make_group(facts, "single", facts.order.back(), {{facts.order.back(), "anchor"}});
  const Target target = sunway();
  const TemporaryFolder folder;
  const auto cycles = [&](const Planner& planner) {
    return PlannedGroupCost(planner, target, {1, folder.path()}).cost(graph, group).cycles;
  };
  const std::int64_t published = cycles(swtvm());
  CHECK(cycles(searched()) < published);
  CHECK(cycles(swtvm()) == published);
  CHECK(cycles(searched()) == plan_of(group_stages(graph, group), searched(), target).time.cycles);
}

}  // namespace stowage::searched_test
