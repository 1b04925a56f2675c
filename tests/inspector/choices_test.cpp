// SPDX-License-Identifier: Apache-2.0
// What of a schedule is one of a few: which options there are, what becomes of one, and the boxes that offer them.
#include <QComboBox>
#include <QCoreApplication>
#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <set>

#include "inspector/panes/what_if_pane.h"
#include "inspector/whatif/edit_words.h"
#include "tests/fusion/net.h"
#include "tests/inspector/evaluated.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

Evaluation evaluated_with(const LoadedPlan& plan, StepId step, Schedule fixed) {
  PlanEdit edit;
  edit.schedules[plan.steps[step].step->group.name] = std::move(fixed);
  return evaluated(plan, step, edit);
}

const ChoiceControl* find(const GroupControls& controls, ChosenPart part, const std::string& tensor = {}) {
  for (const ChoiceControl& control : controls.choices) {
    if (control.part == part && control.tensor == tensor) return &control;
  }
  return nullptr;
}

/// A convolution with padding, bias and Clip, one of single pixels, and a product with few results and long sums.
PlanPtr plan_of_three() {
  testing::Net net("three");
  const TensorId x = net.input("x", {1, 8, 14, 14});
  const TensorId y = net.op("Conv", "conv", {x, net.constant("w", {16, 8, 3, 3}), net.constant("b", {16})},
                            {{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  const TensorId clip = net.op("Clip", "clip", {y, net.value("low", {}, {0}), net.value("high", {}, {6})});
  const TensorId product =
      net.op("MatMul", "product", {net.input("a", {16, 4096}), net.constant("weights", {4096, 16})});
  Diagnostics diagnostics;
  auto compilation = compile_graph(net.done({clip, net.conv("single", x, 8), product}), CompileRequest{}, diagnostics);
  INFO(format_diagnostics(diagnostics));
  REQUIRE(compilation);
  return make_loaded_plan(*std::move(compilation), "three", "", {});
}

struct Tally {
  std::set<std::string> parts;
  int taken = 0;
  int refused = 0;
};

void try_options(const LoadedPlan& plan, StepId step, Tally& tally) {
  const GroupControls controls = evaluated(plan, step, {}).controls;
  for (const ChoiceControl& control : controls.choices) {
    tally.parts.insert(title_of(control.part));
    CHECK(control.chosen < control.options.size());
    for (const Schedule& option : control.options) {
      INFO(plan.steps[step].step->group.name << ", " << control.tensor << " " << title_of(control.part) << ": "
                                             << option_text(control, option));
      const Schedule fixed = with_choice({}, control, option);
      CHECK(part_of(fixed, control) == option);
      CHECK(with_choice(fixed, control, {}) == Schedule{});
      const Evaluation evaluation = evaluated_with(plan, step, fixed);
      if (!evaluation.result) {
        ++tally.refused;
        CHECK_FALSE(evaluation.refusal.reason.empty());
        continue;
      }
      ++tally.taken;
      const ChoiceControl* const now = find(evaluation.controls, control.part, control.tensor);
      REQUIRE(now != nullptr);
      CHECK(std::find(now->options.begin(), now->options.end(), option) != now->options.end());
      // What stays because its iterator has no loop is not said to be resident.
      if (control.part != ChosenPart::resident) CHECK(now->options[now->chosen] == option);
    }
  }
}

}  // namespace

TEST_CASE("every option of a choice is what the plan then has, or is refused with a reason", "[inspector]") {
  Tally tally;
  const PlanPtr three = plan_of_three();
  for (const StepId step : three->steps.ids()) try_options(*three, step, tally);
  std::cout << tally.taken << " options taken, " << tally.refused << " refused\n";
  CHECK(tally.taken > 2 * tally.refused);
  CHECK(tally.parts == std::set<std::string>{"axes as one", "blocks of lanes", "copied inputs", "folded stages",
                                             "kept along", "launch", "loaded by", "slots", "split sum"});
}

TEST_CASE("another form frees what is fixed of iterators and tensors, and keeps form and launch", "[inspector]") {
  const PlanPtr plan = searched_lenet();
  const GroupControls controls = evaluated(*plan, step_named(*plan, "ip1"), {}).controls;
  const ChoiceControl* const lanes = find(controls, ChosenPart::lanes);
  REQUIRE(lanes != nullptr);
  const Schedule& other = lanes->options.front();
  const Schedule& now = lanes->options[lanes->chosen];
  REQUIRE(now != other);
  Schedule fixed = buffers({{"ff", 2}});
  fixed.slots["X"] = 2;
  fixed.merged = MergedAxes{};
  fixed.launch = LaunchedBy::spawn;
  const Schedule changed = with_choice(fixed, *lanes, other);
  Schedule expected;
  expected.merged = MergedAxes{};
  expected.launch = LaunchedBy::spawn;
  expected.lanes = other.lanes;
  CHECK(changed == expected);
  // The form that the planner has, once it is fixed, has the same iterators.
  Schedule kept = fixed;
  kept.lanes = now.lanes;
  CHECK(with_choice(fixed, *lanes, now) == kept);
  // Another launch has the same iterators.
  Schedule more = changed;
  more.slots["X"] = 2;
  const ChoiceControl* const launch = find(controls, ChosenPart::launch);
  REQUIRE(launch != nullptr);
  CHECK(with_choice(more, *launch, {}).slots == more.slots);
}

TEST_CASE("an edit that fixes nothing of a kind says so", "[inspector]") {
  const PlanPtr plan = searched_lenet();
  Schedule fixed;
  fixed.lanes = LaneBlocks{};
  fixed.merged = MergedAxes{};
  fixed.copied = CopiedInputs{};
  fixed.split = SplitReductions{};
  fixed.resident["x"] = {};
  PlanEdit edit;
  edit.schedules["ip1"] = fixed;
  REQUIRE(edit_entries(*plan, edit).size() == 1);
  CHECK(edit_entries(*plan, edit).front().details ==
        "ip1: no axes as one; no blocks of lanes; no inputs copied; no sum split; x kept along nothing");
}

TEST_CASE("a box fixes slots, undo frees them, and the first entry says what the planner chose", "[inspector]") {
  OpenPane<WhatIfPane> opened;
  opened.open(searched_lenet(), step_subject(StepId(1)));
  opened.show(1000, 700);
  WhatIfSession& session = opened.pane.session();
  const auto settle = [&] {
    REQUIRE(wait_until([&] { return session.latest() != nullptr && !session.pending(); }));
    for (int i = 0; i < 3; ++i) QCoreApplication::processEvents();
    REQUIRE(wait_until([&] { return !session.pending(); }));
  };
  settle();
  // One that has two slots: with one it fits as well.
  const std::map<std::string, int> slots = session.legal()->plan().schedule.slots;
  const auto two = std::find_if(slots.begin(), slots.end(), [](const auto& entry) { return entry.second == 2; });
  REQUIRE(two != slots.end());
  const std::string tensor = two->first;
  const int planned = 2;
  const auto box = [&] {
    QComboBox* const found = opened.pane.controls().choiceBox(ChosenPart::slots, tensor);
    REQUIRE(found != nullptr);
    return found;
  };
  CHECK(box()->currentIndex() == 0);
  CHECK(box()->currentText() == QStringLiteral("planner: %1").arg(planned));
  const int wanted = 1;
  box()->setCurrentIndex(wanted);
  Q_EMIT box()->activated(wanted);
  settle();
  CHECK(session.fixed().slots == std::map<std::string, int>{{tensor, wanted}});
  REQUIRE(session.latest()->refusal.allowed);
  CHECK(session.legal()->plan().schedule.slots.at(tensor) == wanted);
  CHECK(box()->currentText() == QString::number(wanted));
  CHECK(box()->itemText(0) == QStringLiteral("planner"));
  bool is_told = false;
  for (const Mark& mark : opened.pane.result().drawing().marks) {
    is_told = is_told || mark.text.contains(QStringLiteral("%1 %2 (fixed)").arg(qt(tensor)).arg(wanted));
  }
  CHECK(is_told);
  session.history().undo();
  settle();
  CHECK(session.edit().empty());
  CHECK(box()->currentText() == QStringLiteral("planner: %1").arg(planned));
  Q_EMIT box()->activated(0);
  CHECK(session.edit().empty());
}

}  // namespace stowage::test
