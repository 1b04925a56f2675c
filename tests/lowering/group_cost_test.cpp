// SPDX-License-Identifier: Apache-2.0
// The cost of groups: equal ones are planned once, threads and the cache on disk change nothing.
#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "core/operators.h"
#include "core/temporary_folder.h"
#include "fusion/explain/why_not.h"
#include "fusion/groups/group.h"
#include "fusion/groups/group_cost.h"
#include "fusion/groups/horizontal_fusion.h"
#include "fusion/strategies/candidates.h"
#include "fusion/strategies/strategy.h"
#include "lowering/program/canonical_stages.h"
#include "lowering/program/launches.h"
#include "lowering/program/plan_group.h"
#include "lowering/program/planned_cost.h"
#include "lowering/program/planners.h"
#include "lowering/program/program.h"
#include "lowering/simulate/simulate.h"
#include "lowering/time/dma_alignment.h"
#include "tests/fusion/net.h"
#include "tests/fusion/random_net.h"
#include "tests/lowering/priced_groups.h"

namespace stowage::group_cost_test {

using namespace stowage::testing;

namespace {

namespace fs = std::filesystem;

/// Counts how often groups are planned.
class CountingPlanner : public Planner {
 public:
  [[nodiscard]] std::string_view name() const override { return "counting"; }
  [[nodiscard]] Scheduled complete(const std::string& subject, const StageList& stages, const Schedule& fixed,
                                   const Target& target, TraceSink trace) const override {
    ++calls;
    return find_planner("swtvm")->complete(subject, stages, fixed, target, trace);
  }
  mutable std::atomic<int> calls{0};
};

/// Counts how often a search is begun.
class CountingSearch : public Planner {
 public:
  [[nodiscard]] std::string_view name() const override { return "searched"; }
  [[nodiscard]] Scheduled complete(const std::string& subject, const StageList& stages, const Schedule& fixed,
                                   const Target& target, TraceSink trace) const override {
    ++searches;
    return find_planner("searched")->complete(subject, stages, fixed, target, trace);
  }
  [[nodiscard]] Chosen choose(const std::string& subject, const StageList& stages, const Schedule& fixed,
                              const Target& target, TraceSink trace, std::int64_t to_beat,
                              const std::stop_token& over) const override {
    ++searches;
    return find_planner("searched")->choose(subject, stages, fixed, target, trace, to_beat, over);
  }
  [[nodiscard]] Scheduled complete_chosen(const std::string& subject, const StageList& stages, const Schedule& chosen,
                                          const Target& target, TraceSink trace) const override {
    return find_planner("searched")->complete_chosen(subject, stages, chosen, target, trace);
  }
  mutable std::atomic<int> searches{0};
};

/// Costs of which no change of the target lifts a refusal.
class NoChange : public GroupCost {
 public:
  explicit NoChange(const GroupCost& costs) : costs_(&costs) {}
  [[nodiscard]] Answer cost(const Graph& graph, const FusedOperator& group) const override {
    return costs_->cost(graph, group);
  }
  [[nodiscard]] std::string change_that_allows(const Graph&, const FusedOperator&) const override { return {}; }

 private:
  const GroupCost* costs_;
};

/// A padded 3 x 3 maximum, then operators of one operand; a Cast is to f32.
Graph pooled_chain(ElementType type, const Shape& shape, const std::vector<std::string>& kinds) {
  GraphBuilder builder("net");
  TensorId last = builder.add_input("image", type, shape);
  const auto append = [&](const std::string& kind, const Attributes& attributes) {
    Diagnostics diagnostics;
    const auto made = append_operator(builder, kind, kind, attributes, {last}, kind + "_out", {}, {}, diagnostics);
    INFO(format_diagnostics(diagnostics));
    REQUIRE(made);
    last = *made;
  };
  append("MaxPool",
         {{"kernel_shape", std::vector<std::int64_t>{3, 3}}, {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  for (const std::string& kind : kinds) {
    append(kind, kind == "Cast" ? Attributes{{"to", std::string("f32")}} : Attributes{});
  }
  builder.mark_output(last);
  return std::move(builder).build();
}

}  // namespace

TEST_CASE("equal groups are planned once") {
  const Graph graph = repeated_blocks();
  const Target target = small_target();
  const CandidateSet set = find_candidate_groups(graph, built_in_templates(), nullptr, {});
  const CountingPlanner planner;
  const auto groups = allowed_groups(set);
  answers_of(PlannedGroupCost(planner, target), graph, groups);
  // conv, conv + relu, conv + relu + add, relu, relu + add, add: each in three blocks. Two neighbouring blocks as one
  // group: of the first two and of the last two.
  CHECK(groups.size() == 18 + 2);
  CHECK(planner.calls == 6 + 1);
}

TEST_CASE("equal groups are searched once in a compilation, and each is planned as if it were alone") {
  const Graph graph = repeated_blocks();
  const Target target = small_target();
  for (const unsigned threads : {1U, 4U}) {
    INFO(threads << " threads");
    const CountingSearch planner;
    PlanChoices choices;
    const PlannedGroupCost cost(planner, target, {threads, {}, &choices});
    const FusedGraph fused = fuse_graph(graph, built_in_templates(), &cost, *find_strategy("greedy"), {}).fused;
    CHECK(planner.searches == 6 + 1);
    Trace trace;
    Diagnostics diagnostics;
    const auto program =
        plan_program(fused, {}, planner, target, TraceSink(&trace), diagnostics, {}, {}, threads, &choices);
    REQUIRE(program);
    CHECK(planner.searches == 6 + 1);
    Trace alone;
    REQUIRE(program->steps.size() == fused.groups.size());
    std::set<std::string> kinds;
    for (const FusedOperator& group : fused.groups)
      kinds.insert(canonical_stages(group_stages(fused.graph, group)).text);
    const int searched_anew = static_cast<int>(kinds.size());
    for (const ProgramStep& step : program->steps) {
      const Planned planned = plan_group(step.group.name, group_stages(fused.graph, step.group), {}, CountingSearch(),
                                         target, TraceSink(&alone));
      const bool is_first = &step == &program->steps[*first_kernel(program->steps)];
      const LaunchedBy launch = is_first ? LaunchedBy::spawn : LaunchedBy::barrier;
      const Plan plan = launched_by(std::get<Plan>(planned), launch, target);
      CHECK(std::get<Plan>(planned).nest.launch == LaunchedBy::barrier);
      CHECK(step.plan()->schedule == plan.schedule);
      CHECK(to_text(step.plan()->nest) == to_text(plan.nest));
      CHECK(step.plan()->time.cycles == plan.time.cycles);
    }
    REQUIRE(trace.records.size() == alone.records.size());
    for (std::size_t i = 0; i < alone.records.size(); ++i) {
      CHECK(trace.records[i].subject == alone.records[i].subject);
      CHECK(heading_of(trace.records[i]).rule == heading_of(alone.records[i]).rule);
      CHECK(sentence(trace.records[i]) == sentence(alone.records[i]));
    }
    // Without what was found before each kind is searched once.
    REQUIRE(plan_program(fused, {}, planner, target, {}, diagnostics, {}, {}, threads));
    CHECK(planner.searches == 6 + 1 + searched_anew);
    // Of a group that a person fixes something of nothing is known.
    REQUIRE(plan_program(
        fused,
        {{program->steps[StepId(1)].group.name,
          Schedule{.parallel = {}, .buffer = {{"yy", 2}}, .order = {}, .dma = {}, .slots = {}, .sharing = {}}}},
        planner, target, {}, diagnostics, {}, {}, threads, &choices));
    CHECK(planner.searches == 6 + 1 + searched_anew + 1);
  }
}

TEST_CASE("a group costs what its plan says, whatever its names are") {
  const Target target = small_target();
  const Planner& planner = *find_planner("swtvm");
  const PlannedGroupCost cost(planner, target);
  int planned = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    const Graph graph = RandomNet(seed).make(10);
    const CandidateSet set = find_candidate_groups(graph, built_in_templates(), &cost, {});
    for (const CandidateGroup& candidate : set.candidates) {
      if (candidate.group.is_view) continue;
      if (is_horizontal(candidate.group) && !candidate.allowed()) continue;  // they are not one operator
      const Planned plan =
          plan_group(candidate.group.name, group_stages(graph, candidate.group), {}, planner, target, {});
      if (const auto* refused = std::get_if<Decision>(&plan)) {
        if (candidate.refusals.size() == 1) CHECK(candidate.refusals[0] == *refused);
      } else if (candidate.allowed()) {
        CHECK(candidate.cycles == std::get<Plan>(plan).time.cycles);
        ++planned;
      }
    }
  }
  CHECK(planned > 400);
}

TEST_CASE("refusals of equal groups name their own tensors") {
  Net net("large");
  const TensorId x = net.input("x", {1, 4096, 512});
  const TensorId a = net.op("Softmax", "first", {x});
  const Graph graph = net.done({net.op("Softmax", "second", {a})});
  Diagnostics diagnostics;
  const std::vector<std::string> settings = {"ldm.bytes=260", "ldm.reserved=256"};
  auto target = load_target("sw26010", settings, diagnostics);
  REQUIRE(target);
  target->management_core.reset();  // which would take them
  const PlannedGroupCost cost(*find_planner("swtvm"), *target);
  const CandidateSet set = find_candidate_groups(graph, built_in_templates(), &cost, {});
  for (const OpId op : set.facts.order) {
    const CandidateGroup& candidate = set.of(set.single[op.index()]);
    const Planned plan =
        plan_group(candidate.group.name, group_stages(graph, candidate.group), {}, *find_planner("swtvm"), *target, {});
    REQUIRE(std::holds_alternative<Decision>(plan));
    REQUIRE(candidate.refusals.size() == 1);
    CHECK(candidate.refusals[0] == std::get<Decision>(plan));
  }
}

TEST_CASE("a group whose operators make the same unaligned transfers alone is allowed") {
  const Graph graph = pooled_chain(ElementType::u8, {1, 1, 5, 5}, {"Cast"});
  const GraphFacts facts(graph);
  const FusedOperator both = make_group(facts, "reduction", facts.order.front(),
                                        {{facts.order.front(), "anchor"}, {facts.order.back(), "epilogue"}});
  const Target target = small_target();
  for (const char* name : {"swtvm", "searched"}) {
    INFO(name);
    const PlannedGroupCost cost(*find_planner(name), target);
    CHECK_FALSE(cost.cost(graph, make_single(facts, facts.order.front())).cycles == 0);
    const GroupCost::Answer answer = cost.cost(graph, both);
    INFO(answer.decision.rule << ": " << answer.decision.reason);
    CHECK(answer.decision);
    CHECK(answer.cycles > 0);
    const Planned plan = plan_group("both", group_stages(graph, both), {}, *find_planner(name), target, {});
    REQUIRE(std::holds_alternative<Plan>(plan));
    CHECK_FALSE(unaligned_transfers(std::get<Plan>(plan).nest, target).empty());
  }
}

TEST_CASE(
    "a group that makes unaligned transfers which its operators alone do not make is refused, and why not says so") {
  const Graph graph = pooled_chain(ElementType::i8, {1, 2, 1, 2}, {"Relu"});
  const GraphFacts facts(graph);
  const OpId pool = facts.order[0];
  const OpId relu = facts.order[1];
  const FusedOperator both = make_group(facts, "reduction", pool, {{pool, "anchor"}, {relu, "epilogue"}});
  const Target target = small_target();
  for (const char* name : {"swtvm", "searched"}) {
    INFO(name);
    const PlannedGroupCost cost(*find_planner(name), target);
    const GroupCost::Answer answer = cost.cost(graph, both);
    CHECK(answer.decision.rule == "dma-alignment");
    CHECK_THAT(answer.decision.reason, Catch::EndsWith(", which its operators alone do not make"));
    const Fusion fusion = fuse_graph(graph, built_in_templates(), &cost, *find_strategy("exact"), {});
    const auto why = [&](const GroupCost& asked) {
      return to_text(why_not(facts, built_in_templates(), fusion.record, {pool, relu}, &asked), graph, fusion.record);
    };
    CHECK_THAT(why(cost), Catch::StartsWith("MaxPool + Relu: refused\n") && Catch::Contains("dma-alignment") &&
                              Catch::Contains(answer.decision.reason) &&
                              Catch::EndsWith("what would change it: target.dma.alignment = 1 (instead of 4)\n"));
    CHECK_THAT(why(NoChange(cost)), Catch::EndsWith("no smaller dma.alignment\n"));
  }
}

TEST_CASE("costs do not depend on threads or on the cache") {
  const TemporaryFolder folder;
  const Target target = small_target();
  const Graph graph = repeated_blocks();
  const auto groups = allowed_groups(find_candidate_groups(graph, built_in_templates(), nullptr, {}));
  const CountingPlanner planner;
  const auto expected = answers_of(PlannedGroupCost(planner, target, {1, {}}), graph, groups);
  check_equal(expected, answers_of(PlannedGroupCost(planner, target, {7, folder.path()}), graph, groups));
  const int calls = planner.calls;
  check_equal(expected, answers_of(PlannedGroupCost(planner, target, {3, folder.path()}), graph, groups));
  CHECK(planner.calls == calls);  // all from the disk

  Diagnostics diagnostics;
  const auto other = load_target("sw26010", std::vector<std::string>{"cores.count=8"}, diagnostics);
  REQUIRE(other);
  answers_of(PlannedGroupCost(planner, *other, {3, folder.path()}), graph, groups);
  CHECK(planner.calls > calls);  // of another target nothing is believed
}

TEST_CASE("costs by simulation are those of the plan played event by event, and have records of their own") {
  const TemporaryFolder folder;
  const Target target = small_target();
  const Graph graph = repeated_blocks();
  const auto groups = allowed_groups(find_candidate_groups(graph, built_in_templates(), nullptr, {}));
  const Planner& planner = *find_planner("searched");
  const Evaluator by_simulation{EvaluatedBy::simulation};
  const PlannedGroupCost closed(planner, target, {2, folder.path()});
  const PlannedGroupCost simulated(planner, target, {2, folder.path(), nullptr, by_simulation});
  const auto by_closed_form = answers_of(closed, graph, groups);
  const auto cold = answers_of(simulated, graph, groups);
  check_equal(cold, answers_of(simulated, graph, groups));  // from the disk
  check_equal(by_closed_form, answers_of(closed, graph, groups));
  std::size_t other = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    CAPTURE(groups[i].name);
    REQUIRE(cold[i].decision == by_closed_form[i].decision);
    if (!cold[i].decision) continue;
    const Planned planned = plan_group("group", group_stages(graph, groups[i]), {}, planner, target, {});
    const auto& plan = std::get<Plan>(planned);
    CHECK(by_closed_form[i].cycles == plan.time.cycles);
    CHECK(cold[i].cycles == std::get<Simulation>(simulate(plan.nest, target)).cycles);
    other += cold[i].cycles != by_closed_form[i].cycles ? 1U : 0U;
  }
  CHECK(other > 0);
}

TEST_CASE("a simulation that is stopped leaves no cost behind") {
  const TemporaryFolder folder;
  const Target target = small_target();
  const Graph graph = repeated_blocks();
  const auto groups = allowed_groups(find_candidate_groups(graph, built_in_templates(), nullptr, {}));
  const PlannedGroupCost cost(*find_planner("swtvm"), target, {1, folder.path(), nullptr, {EvaluatedBy::simulation}});
  std::stop_source stop;
  stop.request_stop();
  for (const GroupCost::Answer& answer : cost.costs(graph, groups, stop.get_token())) {
    CHECK(answer.decision.rule == "stopped");
  }
  for (const GroupCost::Answer& answer : answers_of(cost, graph, groups)) CHECK(answer.decision.rule != "stopped");
}

TEST_CASE("this program has a build id") { CHECK(build_id().size() >= 16); }

}  // namespace stowage::group_cost_test
