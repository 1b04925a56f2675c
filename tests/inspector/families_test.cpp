// SPDX-License-Identifier: Apache-2.0
// What the inspector plans by itself is planned as the plan's family does it, and as `compile` does it: plans of an
// invented family (tests/backend), and of a network of which a library computes a part.
#include <catch2/catch.hpp>
#include <fstream>

#include "core/onnx/model_writer.h"
#include "core/temporary_folder.h"
#include "driver/networks/networks.h"
#include "fusion/strategies/strategy.h"
#include "inspector/cost/cost_chart.h"
#include "inspector/fusion/strategy_comparison.h"
#include "inspector/fusion/why_not_question.h"
#include "inspector/ldm/ldm_map.h"
#include "inspector/panes/what_if_pane.h"
#include "inspector/replay/replay.h"
#include "inspector/replay/replay_picture.h"
#include "inspector/state/background.h"
#include "inspector/state/planned_group.h"
#include "inspector/whatif/evaluate.h"
#include "tests/backend/bank_machine.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

PlanPtr compiled(CompileRequest request, const std::string& fusion, bool with_trace = true) {
  request.fusion = fusion;
  Diagnostics diagnostics;
  auto compilation = compile(request, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(compilation);
  if (!with_trace) compilation->trace.records.clear();
  return make_loaded_plan(*std::move(compilation), "test", "", {});
}

/// LeNet on the invented machine.
CompileRequest lenet_on_banks(const TemporaryFolder& folder) {
  Diagnostics diagnostics;
  CompileRequest request;
  request.model = (folder.path() / "lenet.onnx").string();
  request.target = (folder.path() / "bank16.toml").string();
  request.backends = all_backends();
  REQUIRE(write_network("lenet", {}, request.model, diagnostics));
  std::ofstream(request.target) << bank16;
  return request;
}

/// A product that the library is faster at, and one that it is slower at, with a ReLU behind each.
CompileRequest products_with_library(const TemporaryFolder& folder) {
  ModelWriter model("products", 17, "two products");
  model.add_input("x", ElementType::f32, Shape{512, 512});
  model.add_input("w", ElementType::f32, Shape{512, 512});
  model.add_input("v", ElementType::f32, Shape{512, 4});
  model.add_node("MatMul", "large", {"x", "w"}, {"a"});
  model.add_node("Relu", "rectified", {"a"}, {"b"});
  model.add_node("MatMul", "small", {"b", "v"}, {"c"});
  model.add_node("Relu", "last", {"c"}, {"y"});
  model.add_output("y", ElementType::f32, Shape{512, 4});
  Diagnostics diagnostics;
  CompileRequest request;
  request.model = (folder.path() / "products.onnx").string();
  REQUIRE(model.save(request.model, diagnostics));
  request.library = "xmath";
  request.settings = {"target.library.xmath.call_seconds=1e-6",
                      "target.library.xmath.efficiency=[{extent=32,share=1e-4},{extent=96,share=1.0}]"};
  return request;
}

/// Each strategy beside the plan has the numbers that `compile` gives for it.
void check_strategies(const CompileRequest& request) {
  const PlanPtr plan = compiled(request, "exact");
  const auto results = beside([&] { return compare_strategies(*plan, {}, {}); });
  REQUIRE(results.size() == strategy_names().size());
  for (const StrategyResult& result : results) {
    INFO(result.strategy << ' ' << result.refusal);
    const ProgramTotals totals = compiled(request, result.strategy)->totals;
    CHECK(result.groups == totals.groups);
    CHECK(result.kernels == totals.kernels);
    CHECK(result.cycles == totals.cycles);
    CHECK(result.bytes == totals.dma.bytes);
    std::int64_t change = 0;
    for (const GroupingDifference& difference : result.differences)
      change += difference.cycles_there - difference.cycles_here;
    if (plan->program().target.use_library.empty()) CHECK(plan->totals.cycles + change == totals.cycles);
  }
}

TEST_CASE("strategies on another family's target have its planner's numbers", "[inspector]") {
  const TemporaryFolder folder;
  check_strategies(lenet_on_banks(folder));
}

TEST_CASE("strategies beside each other call the library where a compilation does", "[inspector]") {
  const TemporaryFolder folder;
  const CompileRequest request = products_with_library(folder);
  const PlanPtr none = compiled(request, "none");
  REQUIRE(none->program().steps[step_named(*none, "large")].by_library() != nullptr);
  REQUIRE(none->program().steps[step_named(*none, "small")].by_library() == nullptr);
  check_strategies(request);
}

TEST_CASE("questions about a plan of another family are answered by it", "[inspector]") {
  const TemporaryFolder folder;
  const PlanPtr plan = compiled(lenet_on_banks(folder), "exact");
  const StepId step = step_named(*plan, "ip1");
  const FusedOperator& group = plan->steps[step].step->group;

  const PlannedStep again = beside([&] { return plan_group_of(*plan, group, nullptr, plan->program().target); });
  REQUIRE(std::holds_alternative<StepWork>(again));
  const ProgramStep planned{group, std::get<StepWork>(again)};
  CHECK(planned.step_plan()->text() == plan->steps[step].step->step_plan()->text());

  // Groups are priced, also on an edited target.
  PlanEdit fewer;
  fewer.target["sram_banks"] = "12";
  for (const PlanEdit& edit : {PlanEdit{}, fewer}) {
    const GroupChoicesPtr choices = beside([&] { return price_groups(plan, edit); });
    REQUIRE(choices);
    const CandidateGroup* candidate = choices->find(group.operators);
    REQUIRE(candidate != nullptr);
    CHECK(candidate->allowed());
    CHECK((candidate->cycles == plan->steps[step].cycles) == edit.target.empty());
    const auto ways = beside([&] { return regroupings(*choices, edit, group.operators.front()); });
    CHECK_FALSE(ways.empty());
  }

  // It has no schedule that could be edited, and says so.
  const Evaluation evaluation = beside([&] { return evaluate(*plan, step, PlanEdit{}); });
  CHECK_FALSE(evaluation.refusal.allowed);
  CHECK(evaluation.refusal.rule == "no-loop-nest");
  CHECK(evaluation.refusal.reason == "ip1 is a kernel of a family that has no loop nests: it has no schedule to edit");

  const auto question = beside([&] { return std::make_shared<const WhyNotQuestion>(plan); });
  CHECK(beside([&] { return question->ask({"conv1", "conv2"}); }).find("conv1") != std::string::npos);
  CHECK_FALSE(beside([&] { return make_replay(*plan, step); }).steps.empty());
}

/// What a person reads of a picture, its tips too.
std::string words_of(const Drawing& drawing) {
  QString words;
  for (const Mark& mark : drawing.marks) words += mark.text + QLatin1Char('\n') + mark.tip + QLatin1Char('\n');
  return words.toStdString();
}

TEST_CASE("pictures of another family's plan show nothing of Athread's machines", "[inspector]") {
  const TemporaryFolder folder;
  CompileRequest request = lenet_on_banks(folder);
  request.settings = {"target.sram_banks=24"};  // 96 KiB, which is the size of nothing that Athread has
  const PlanPtr plan = compiled(request, "exact");
  const StepId step = step_named(*plan, "ip1");
  Look look;
  const QSizeF room(700, 400);
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };

  const std::string peaks = words_of(ldm_peaks(*plan, look, room));
  INFO(peaks);
  CHECK(has(peaks, "SRAM peak of every group"));
  CHECK(has(peaks, "of 96"));
  CHECK(has(peaks, "ip1\npeak "));
  CHECK_FALSE(has(peaks, "LDM"));
  CHECK_FALSE(has(peaks, "58.00"));  // KiB that buffers of an SW26010 have

  const std::string roofs = words_of(roofline(*plan, look, room));
  INFO(roofs);
  CHECK(has(roofs, "says no rates of cores and DMA"));
  CHECK_FALSE(has(roofs, "op/s"));
  CHECK_FALSE(has(roofs, "B/s"));

  const Replay replay = beside([&] { return make_replay(*plan, step); });
  CHECK(replay.capacity == 0);
  REQUIRE_FALSE(replay.steps.empty());
  const std::string replayed = words_of(replay_picture(replay, 0, look, room));
  INFO(replayed);
  CHECK(has(replayed, "no loop nest: nothing is planned of it"));

  // Where something could be edited there is nothing to edit, and no value of what there is not.
  OpenPane<WhatIfPane> opened;
  WhatIfPane& pane = opened.pane;
  opened.open(plan, step_subject(step));
  opened.show(1000, 700);
  REQUIRE(wait_until([&] { return pane.controls().isVisible() && !pane.session().pending(); }));
  QCoreApplication::processEvents();
  CHECK_FALSE(pane.controls().ldmBytes().isVisible());
  CHECK_FALSE(has(words_of(pane.result().drawing()), "One core's LDM"));
  opened.open("lenet");
  CHECK(wait_until([&] { return pane.controls().ldmBytes().isVisible(); }));
}

TEST_CASE("a replay without a kept trace is the kept one, also where a library may be called", "[inspector]") {
  const TemporaryFolder folder;
  const CompileRequest request = products_with_library(folder);
  const auto messages = [&](bool with_trace) {
    const PlanPtr plan = compiled(request, "none", with_trace);
    const StepId small = step_named(*plan, "small");
    CHECK(keeps_steps(*plan, small) == with_trace);
    std::vector<std::string> found;
    for (const ReplayStep& step : beside([&] { return make_replay(*plan, small); }).steps)
      found.push_back(step.message);
    return found;
  };
  CHECK(messages(false) == messages(true));
}

TEST_CASE("a group that a library computes is so in what if, too", "[inspector]") {
  const TemporaryFolder folder;
  const PlanPtr plan = compiled(products_with_library(folder), "none");
  const StepId large = step_named(*plan, "large");
  const Evaluation evaluation = beside([&] { return evaluate(*plan, large, PlanEdit{}); });
  CHECK(evaluation.refusal.rule == "no-loop-nest");
  CHECK(evaluation.refusal.reason.find("computed by a function of a library") != std::string::npos);
  // Its kernel behind the call is spawned, as the plan has it.
  const StepId behind = step_named(*plan, "rectified");
  PlanEdit same;
  same.schedules["rectified"] = plan->steps[behind].plan->schedule;
  same.schedules["rectified"].launch.reset();
  const Evaluation edited = beside([&] { return evaluate(*plan, behind, same); });
  REQUIRE(edited.refusal.allowed);
  CHECK(edited.plan().time.cycles == plan->steps[behind].cycles);
}

}  // namespace
}  // namespace stowage::test
