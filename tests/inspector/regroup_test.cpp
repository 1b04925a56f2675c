// SPDX-License-Identifier: Apache-2.0
// What if the operators were grouped otherwise: the core by its values against the command line, then the list.
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <catch2/catch.hpp>

#include "fusion/groups/group.h"
#include "inspector/panes/what_if_pane.h"
#include "inspector/whatif/job_form.h"
#include "tests/inspector/opened_regrouping.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

GroupChoicesPtr choices_of(const PlanPtr& plan, const PlanEdit& edit = {}) {
  const GroupChoicesPtr choices = beside([&] { return price_groups(plan, edit); });
  REQUIRE(choices);
  return choices;
}

std::vector<Regrouping> ways_of(const GroupChoicesPtr& choices, const PlanEdit& edit, OpId op) {
  return beside([&] { return regroupings(*choices, edit, op); });
}

/// The way whose groups are these, in words.
Regrouping way_to(const std::vector<Regrouping>& ways, const Graph& graph, const std::string& groups) {
  for (const Regrouping& way : ways) {
    INFO(groups_text(graph, way.after));
    if (groups_text(graph, way.after) == groups) return way;
  }
  FAIL("no way to " << groups);
  return {};
}

TEST_CASE("every other grouping is offered with the cycles that it has", "[inspector]") {
  // By planner searched kernels begin behind barriers, all but the first.
  const PlanPtr plan = GENERATE(true, false) ? sample_plan("lenet") : searched_lenet();
  const GroupChoicesPtr choices = choices_of(plan);
  int asked = 0;
  for (const StepId i : plan->steps.ids()) {
    const OpId op = plan->steps[i].step->group.operators.front();
    for (const Regrouping& way : ways_of(choices, {}, op)) {
      if (!way.refusals.empty()) continue;
      const std::string words = groups_text(plan->graph(), way.after);
      INFO(words);
      std::vector<OpId> before;
      std::vector<OpId> after;
      for (const auto& group : way.before) before.insert(before.end(), group.begin(), group.end());
      for (const auto& group : way.after) after.insert(after.end(), group.begin(), group.end());
      std::sort(before.begin(), before.end());
      std::sort(after.begin(), after.end());
      CHECK(before == after);
      // The price of the list is what evaluating gives, and planning the network.
      const PlanEdit edit = with_groups(*plan, {}, way.after);
      const Evaluation evaluation = beside([&] { return evaluate(*plan, i, op, edit, choices.get()); });
      REQUIRE(evaluation.result);
      CHECK(numbers_of(evaluation.plans_before(*plan), plan->program().target).cycles == way.cycles_before);
      CHECK(numbers_of(evaluation.plans_after(), evaluation.target()).cycles == way.cycles_after);
      Diagnostics diagnostics;
      const PlanPtr network = beside([&] { return plan_network(plan, edit, diagnostics, {}, {}); });
      INFO(format_diagnostics(diagnostics));
      REQUIRE(network);
      CHECK(network->totals.cycles == plan->totals.cycles + way.change());
      ++asked;
    }
  }
  CHECK(asked >= 4);
}

TEST_CASE("taking a group apart and back leaves no edit", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const GroupChoicesPtr choices = choices_of(plan);
  const OpId ip1 = op_named(*plan, "ip1");
  PlanEdit edit;
  edit.schedules["ip1"].buffer["x"] = 1;
  edit.schedules["conv2"].buffer["xx"] = 4;
  const Regrouping apart = way_to(ways_of(choices, edit, ip1), plan->graph(), "ip1 | relu1");
  edit = with_groups(*plan, edit, apart.after);
  CHECK(edit.groups.size() == 2);
  // A schedule was of the group as it was; others stay.
  CHECK_FALSE(edit.schedules.contains("ip1"));
  CHECK(edit.schedules.contains("conv2"));
  const StepId step = step_named(*plan, "ip1");
  const OpId relu = op_named(*plan, "relu1");
  const Evaluation of_relu = beside([&] { return evaluate(*plan, step, relu, edit, choices.get()); });
  CHECK(of_relu.name == "relu1");
  CHECK(of_relu.groups == std::vector<std::string>{"ip1", "relu1"});
  CHECK(verdict(*plan, of_relu).find("groups ip1 | relu1 instead of ip1 + relu1") != std::string::npos);
  const Regrouping together = way_to(ways_of(choices, edit, ip1), plan->graph(), "ip1 + relu1");
  CHECK(together.cycles_before == apart.cycles_after);
  CHECK(together.cycles_after == plan->steps[step].step->step_plan()->cycles());
  edit = with_groups(*plan, edit, together.after);
  CHECK(edit.groups.empty());
}

TEST_CASE("the command line fuses as the edits that are written as TOML", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const GroupChoicesPtr choices = choices_of(plan);
  PlanEdit edit;
  SECTION("groups apart") {
    edit = with_groups(*plan, {},
                       way_to(ways_of(choices, {}, op_named(*plan, "ip1")), plan->graph(), "ip1 | relu1").after);
  }
  SECTION("groups apart, a schedule of a part, and another target") {
    edit = with_groups(*plan, {},
                       way_to(ways_of(choices, {}, op_named(*plan, "ip1")), plan->graph(), "ip1 | relu1").after);
    edit.schedules["ip1"].buffer["x"] = 1;
    edit.target["dma.startup_cycles"] = "3000.0";
  }
  SECTION("groups joined that the strategy leaves apart") {
    for (const Regrouping& way : ways_of(choices, {}, op_named(*plan, "conv1"))) {
      if (way.refusals.empty() && way.before.size() > 1) edit = with_groups(*plan, {}, way.after);
    }
    REQUIRE_FALSE(edit.groups.empty());
  }
  SECTION("a target on which the strategy would group otherwise") { edit.target["cores.launch_seconds"] = "1e-9"; }
  const auto complete = beside([&] { return complete_edit(plan, edit); });
  REQUIRE(complete);
  const QTemporaryDir folder;
  QFile file(folder.filePath(QStringLiteral("edit.toml")));
  REQUIRE(file.open(QIODevice::WriteOnly));
  const std::string text = schedule_file(*complete, beside([&] { return job_form(*plan, *complete); }), "edit.toml");
  file.write(QByteArray::fromStdString(text));
  file.close();
  QProcess process;
  process.setWorkingDirectory(folder.path());
  const QString tool = QString::fromUtf8(STOWAGE_TOOL);
  process.start(
      tool, {QStringLiteral("network"), QStringLiteral("lenet"), QStringLiteral("-o"), QStringLiteral("lenet.onnx")});
  REQUIRE(process.waitForFinished(60000));
  QStringList arguments = {QStringLiteral("compile"),   QStringLiteral("lenet.onnx"), QStringLiteral("--json"),
                           QStringLiteral("--planner"), qt(plan->program().planner),  QStringLiteral("--schedule"),
                           QStringLiteral("edit.toml")};
  for (const auto& [key, value] : edit.target)
    arguments << QStringLiteral("--set") << qt("target." + key + "=" + value);
  process.start(tool, arguments);
  REQUIRE(process.waitForFinished(60000));
  INFO(process.readAllStandardError().toStdString());
  INFO(text);
  REQUIRE(process.exitCode() == 0);
  const QJsonObject json = QJsonDocument::fromJson(process.readAllStandardOutput()).object();
  Diagnostics diagnostics;
  const PlanPtr network = beside([&] { return plan_network(plan, edit, diagnostics, {}, {}); });
  REQUIRE(network);
  const auto number = [&](const char* key) { return static_cast<std::int64_t>(json[QLatin1String(key)].toDouble()); };
  CHECK(number("cycles") == network->totals.cycles);
  CHECK(number("dma_bytes") == network->totals.dma.bytes);
  CHECK(number("dma_operations") == network->totals.dma.operations);
  CHECK(number("groups") == network->totals.groups);
  for (const std::vector<std::string>& group : edit.groups) {
    INFO(group.front());
    CHECK(std::any_of(network->steps.begin(), network->steps.end(), [&](const StepFacts& step) {
      std::vector<std::string> names;
      for (const OpId op : step.step->group.operators) names.push_back(network->graph().op(op).name);
      return names == group;
    }));
  }
}

TEST_CASE("a group is taken apart by keyboard, and undo joins it again", "[inspector]") {
  OpenedRegrouping opened;
  GroupsList& list = opened.list();
  const int row = list.rowOf(QStringLiteral("ip1 | relu1"));
  REQUIRE(row >= 0);
  CHECK(list.topLevelItem(row)->text(0) == QStringLiteral("apart"));
  CHECK(list.topLevelItem(row)->text(3).startsWith(QLatin1Char('+')));
  const std::string before = to_text(opened.session().legal()->plan().nest);
  list.setCurrentItem(list.topLevelItem(row));
  QTest::keyClick(&list, Qt::Key_Return);
  opened.settle();
  CHECK(opened.session().edit().groups.size() == 2);
  CHECK(opened.session().legal()->regrouped);
  CHECK(opened.session().stale());
  CHECK(list.rowOf(QStringLiteral("ip1 + relu1")) == 0);  // as planned
  // The knobs are those of the part that is chosen.
  CHECK(opened.session().legal()->name == "ip1");
  const OpId relu = op_named(*opened.document.plan(), "relu1");
  opened.selection.select(op_subject(opened.session().step(), relu));
  opened.settle();
  CHECK(opened.session().legal()->name == "relu1");
  opened.session().history().undo();
  opened.settle();
  CHECK(opened.session().edit().empty());
  CHECK(to_text(opened.session().legal()->plan().nest) == before);
  opened.session().history().redo();
  opened.settle();
  CHECK(opened.session().legal()->regrouped);
}

TEST_CASE("the network is planned in other groups and every pane follows", "[inspector]") {
  OpenedRegrouping opened;
  const PlanPtr base = opened.document.plan();
  opened.list().take(opened.list().rowOf(QStringLiteral("ip1 | relu1")));
  opened.settle();
  opened.session().planNetwork();
  REQUIRE(wait_until([&] { return !opened.session().planning() && opened.document.plan() != base; }));
  const PlanPtr planned = opened.document.plan();
  CHECK(planned->totals.groups == base->totals.groups + 1);
  CHECK(opened.session().base() == base);
  CHECK_FALSE(opened.session().stale());
  // Steps are numbered otherwise now; what is chosen is found by its operators.
  opened.selection.select(step_subject(step_named(*planned, "relu1")));
  opened.settle();
  CHECK(opened.session().step() == step_named(*base, "ip1"));
  CHECK(opened.session().legal()->name == "relu1");
  opened.selection.select(step_subject(step_named(*planned, "prob")));
  REQUIRE(wait_until([&] { return opened.session().legal() != nullptr && !opened.session().pending(); }));
  CHECK(opened.session().legal()->name == "prob");
}

}  // namespace
}  // namespace stowage::test
