// SPDX-License-Identifier: Apache-2.0
// One thing has one number: what panes show of a plan that was made with edits is of that plan, and what what-if counts
// from is the plan as it is edited.
#include <QCoreApplication>
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "fusion/groups/group.h"
#include "inspector/fusion/candidates.h"
#include "inspector/fusion/strategy_comparison.h"
#include "inspector/fusion/why_not_question.h"
#include "inspector/panes/what_if_pane.h"
#include "inspector/whatif/result_drawing.h"
#include "tests/inspector/opened_regrouping.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

const StepFacts& facts_of(const LoadedPlan& plan, const std::string& name) {
  return plan.steps[step_named(plan, name)];
}

PlanPtr planned(const PlanPtr& plan, const PlanEdit& edit) {
  Diagnostics diagnostics;
  PlanPtr network = beside([&] { return plan_network(plan, edit, diagnostics, {}, {}); });
  INFO(format_diagnostics(diagnostics));
  REQUIRE(network);
  return network;
}

PlanEdit slow_ip1() {
  PlanEdit edit;
  edit.schedules["ip1"].buffer["y"] = 4;
  return edit;
}

PlanEdit slow_start() {
  PlanEdit edit;
  edit.target["dma.startup_cycles"] = "5000.0";
  return edit;
}

/// Chosen candidates have the cycles of their steps, and their sum is what the strategy's choice costs.
void check_chosen(const LoadedPlan& plan) {
  const FusionRecord& record = plan.compilation.fusion;
  const Table table = candidates_table(plan, {CandidateFate::chosen, {}});
  REQUIRE(table.rows.size() == plan.steps.size());
  std::int64_t sum = 0;
  for (const Row& row : table.rows) {
    const StepFacts& step = plan.steps[row.subject.step.value()];
    INFO(step.step->group.name);
    CHECK(std::get<std::int64_t>(row.cells[3]) == step.cycles);
    sum += step.cycles;
  }
  CHECK(sum == plan.totals.cycles);
  CHECK(record.totals.front().cycles == sum);
}

std::string why_not_text(const PlanPtr& plan, const std::vector<std::string>& names) {
  return beside([&] { return WhyNotQuestion(plan).ask(names); });
}

TEST_CASE("with an edited schedule planned, candidates and why-not show the group's new cycles", "[inspector]") {
  const PlanPtr base = sample_plan("lenet");
  const PlanPtr network = planned(base, slow_ip1());
  const std::int64_t before = facts_of(*base, "ip1").cycles;
  const std::int64_t now = facts_of(*network, "ip1").cycles;
  REQUIRE(now > before);
  check_chosen(*base);
  check_chosen(*network);
  const std::string answer = why_not_text(network, {"ip1", "relu1"});
  INFO(answer);
  CHECK(answer.find(std::to_string(now)) != std::string::npos);
  CHECK(answer.find(std::to_string(before)) == std::string::npos);
  // What another choice would lose is counted from what the group takes now.
  const CandidateRecord* alone = find_candidate(network->compilation.fusion, {op_named(*network, "ip1")});
  const CandidateRecord* alone_before = find_candidate(base->compilation.fusion, {op_named(*base, "ip1")});
  REQUIRE((alone != nullptr && alone_before != nullptr && alone->loss && alone_before->loss));
  CHECK(*alone->loss == *alone_before->loss - (now - before));
  CHECK(alone->cycles == alone_before->cycles);
  // A choice is not called the best of all that is more expensive than one that was found.
  REQUIRE(network->compilation.fusion.search);
  CHECK(network->compilation.fusion.search->complete == false);
  CHECK(network->compilation.fusion.search->lower_bound <= network->totals.cycles);
  CHECK(base->compilation.fusion.search->complete);
}

TEST_CASE("strategies are compared with the edited plan's own cycles", "[inspector]") {
  const PlanPtr network = planned(sample_plan("lenet"), slow_ip1());
  const std::vector<StrategyResult> results =
      beside([&] { return compare_strategies(*network, std::stop_token(), {}); });
  REQUIRE_FALSE(results.empty());
  for (const StrategyResult& result : results) {
    for (const GroupingDifference& difference : result.differences) {
      std::int64_t own = 0;
      for (const auto& group : difference.here) {
        own += network->steps[network->step_of_operator[group.front()]].cycles;
      }
      CHECK(difference.cycles_here == own);
    }
  }
  CHECK_FALSE(results.front().differences.empty());
}

TEST_CASE("with an edited target planned, candidates and why-not are all of that target", "[inspector]") {
  const PlanPtr base = sample_plan("lenet");
  const PlanPtr network = planned(base, slow_start());
  check_chosen(*network);
  const GroupChoicesPtr choices = beside([&] { return price_groups(base, slow_start()); });
  REQUIRE(choices);
  const FusionRecord& record = network->compilation.fusion;
  REQUIRE(record.candidates.size() == choices->set.candidates.size());
  for (std::size_t c = 0; c < record.candidates.size(); ++c) {
    INFO(names_of(network->graph(), record.candidates[c].operators));
    CHECK(record.candidates[c].cycles == choices->set.of(c).cycles);
  }
}

struct Opened : OpenedRegrouping {
  [[nodiscard]] QString cell(const QString& groups, int column) {
    const int row = list().rowOf(groups);
    INFO(groups.toStdString());
    REQUIRE(row >= 0);
    return list().topLevelItem(row)->text(column);
  }
  [[nodiscard]] QString change_text(std::int64_t change) const {
    const QString size = time_text(std::abs(change), document.plan()->program().target.clock_hz, look.units());
    return change == 0 ? QStringLiteral("–") : (change > 0 ? QStringLiteral("+") : QStringLiteral("−")) + size;
  }
};

TEST_CASE("with an edited target the groups as planned are counted on it too", "[inspector]") {
  Opened opened;
  const PlanPtr base = opened.document.plan();
  opened.list().take(opened.list().rowOf(QStringLiteral("ip1 | relu1")));
  opened.settle();
  opened.session().setTarget("dma.startup_cycles", "5000.0", QStringLiteral("start-up"));
  opened.settle();
  const std::int64_t as_planned =
      beside([&] { return evaluate(*base, step_named(*base, "ip1"), slow_start()); }).plan().time.cycles;
  REQUIRE(as_planned != facts_of(*base, "ip1").cycles);
  std::int64_t now = 0;
  for (const StepPlan* plan : opened.session().legal()->plans_after()) now += plan->cycles();
  CHECK(opened.cell(QStringLiteral("ip1 + relu1"), 0) == QStringLiteral("as planned"));
  CHECK(opened.cell(QStringLiteral("ip1 + relu1"), 2) ==
        time_text(as_planned, base->program().target.clock_hz, opened.look.units()));
  CHECK(opened.cell(QStringLiteral("ip1 + relu1"), 3) == opened.change_text(as_planned - now));
  // It is offered once, not as a way that templates allow besides.
  int offered = 0;
  for (int row = 0; row < opened.list().topLevelItemCount(); ++row) {
    offered += opened.list().topLevelItem(row)->text(1) == QStringLiteral("ip1 + relu1") ? 1 : 0;
  }
  CHECK(offered == 1);
}

TEST_CASE("taking a group apart counts from the edited plan", "[inspector]") {
  Opened opened;
  const PlanPtr base = opened.document.plan();
  const QString apart = QStringLiteral("ip1 | relu1");
  const QString from_plan = opened.cell(apart, 3);
  const QString after = opened.cell(apart, 2);
  opened.session().change(slow_ip1(), QStringLiteral("buffer y"));
  opened.settle();
  const std::int64_t now = opened.session().legal()->plan().time.cycles;
  REQUIRE(now > facts_of(*base, "ip1").cycles);
  CHECK(opened.cell(apart, 2) == after);
  CHECK(opened.cell(apart, 3) != from_plan);
  std::int64_t parts = 0;
  const PlanEdit taken = with_groups(*base, slow_ip1(), {{op_named(*base, "ip1")}, {op_named(*base, "relu1")}});
  const Evaluation evaluation = beside([&] {
    return evaluate(*base, step_named(*base, "ip1"), op_named(*base, "ip1"), taken, opened.session().choices().get());
  });
  for (const StepPlan* plan : evaluation.plans_after()) parts += plan->cycles();
  CHECK(opened.cell(apart, 3) == opened.change_text(parts - now));
}

TEST_CASE("the schedule text says where a put without a loop stands: after the loops", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const StepId step = step_named(*plan, "pool1");
  REQUIRE(facts_of(*plan, "pool1").plan->schedule.dma.at("pool1").empty());
  const Evaluation evaluation = beside([&] { return evaluate(*plan, step, {}); });
  ResultInput input;
  input.base = plan.get();
  input.step = step;
  input.legal = input.latest = &evaluation;
  QString text;
  for (const Mark& mark : result_drawing(input, Look(), {900, 0}).marks) text += mark.text + QLatin1Char(' ');
  INFO(text.toStdString());
  CHECK(text.contains(QStringLiteral("pool1 after the loops")));
  CHECK_FALSE(text.contains(QStringLiteral("pool1 before the loops")));
  CHECK(text.contains(QStringLiteral("data before the loops")));
}

}  // namespace
}  // namespace stowage::test
