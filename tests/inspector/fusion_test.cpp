// SPDX-License-Identifier: Apache-2.0
#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "core/index.h"
#include "fusion/explain/why_not.h"
#include "fusion/strategies/strategy.h"
#include "inspector/fusion/candidates.h"
#include "inspector/fusion/strategy_comparison.h"
#include "inspector/panes/fusion_pane.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

std::vector<StrategyResult> compared(const LoadedPlan& plan, std::stop_token stop = {}) {
  std::vector<StrategyResult> results;
  std::jthread([&] { results = compare_strategies(plan, stop, {}); }).join();
  return results;
}

TEST_CASE("every candidate stands in the table with its fate and its numbers", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const FusionRecord& record = plan->compilation.fusion;
  const Table table = candidates_table(*plan);
  REQUIRE(table.rows.size() == record.candidates.size());
  for (std::size_t c = 0; c < table.rows.size(); ++c) {
    const CandidateRecord& candidate = record.candidates[c];
    const std::vector<Cell>& cells = table.rows[c].cells;
    REQUIRE(cells.size() == table.columns.size());
    CHECK(std::get<std::int64_t>(cells[0]) == static_cast<std::int64_t>(c));
    CHECK(std::get<std::string>(cells[1]) == name_of(candidate.fate));
    if (candidate.fate == CandidateFate::refused) {
      CHECK(std::holds_alternative<std::monostate>(cells[3]));
      CHECK(std::get<std::string>(cells[7]).find(candidate.refusals.front().reason) != std::string::npos);
    } else {
      CHECK(std::get<std::int64_t>(cells[3]) == candidate.cycles);
    }
    CHECK(table.rows[c].subject.step);
    if (candidate.fate == CandidateFate::outbid) {
      CHECK(std::get<std::string>(cells[7]).starts_with("outbid by "));
      CHECK(candidate.loss.has_value() == std::holds_alternative<std::int64_t>(cells[4]));
    }
  }
}

TEST_CASE("candidates are filtered by fate and by what they hold", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const Table chosen = candidates_table(*plan, {CandidateFate::chosen, {}});
  CHECK(chosen.rows.size() == plan->steps.size());
  std::set<std::optional<StepId>> steps;
  for (const Row& row : chosen.rows) steps.insert(row.subject.step);
  CHECK(steps.size() == plan->steps.size());  // each leads to its own group
  const OpId conv2 = op_named(*plan, "conv2");
  const Table around = candidates_table(*plan, {std::nullopt, op_subject(std::nullopt, conv2)});
  CHECK(around.rows.size() >= 2);
  CHECK(around.rows.size() < plan->compilation.fusion.candidates.size());
  for (const Row& row : around.rows) CHECK(std::get<std::string>(row.cells[2]).find("conv2") != std::string::npos);
}

TEST_CASE("the chosen groups are the lit path, and alternatives rejoin it where they end with it", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const StrategyPath path = strategy_path(*plan);
  REQUIRE(path.steps.size() == plan->steps.size());
  std::int64_t cycles = 0;
  for (const StepId i : path.steps.ids()) {
    REQUIRE(path.steps[i].chosen);
    const CandidateRecord& chosen = plan->compilation.fusion.candidates[*path.steps[i].chosen];
    CHECK(chosen.operators == plan->steps[i].step->group.operators);
    cycles += chosen.cycles;
    for (const StrategyPath::Alternative& other : path.steps[i].alternatives) {
      const CandidateRecord& candidate = plan->compilation.fusion.candidates[other.candidate];
      CHECK(candidate.fate == CandidateFate::outbid);
      // What it reads from outside is computed before this step.
      if (!other.rejoins) continue;
      std::size_t between = 0;
      for (StepId s = i; s < StepId(at(*other.rejoins)); ++s) {
        between += plan->step(s)->step->group.operators.size();
      }
      CHECK(between == candidate.operators.size());
    }
  }
  CHECK(cycles == plan->compilation.fusion.totals.front().cycles);
}

TEST_CASE("the strategy graph shows the neighbours that are asked for", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const StrategyPath path = strategy_path(*plan);
  const int count = static_cast<int>(path.steps.size());
  CHECK(shown_steps(path, step_subject(StepId(0)), 1) == std::pair(0, 3));
  CHECK(shown_steps(path, step_subject(StepId(3)), 1) == std::pair(2, 5));
  CHECK(shown_steps(path, step_subject(StepId(at(count - 1))), 1) == std::pair(count - 3, count));
  CHECK(shown_steps(path, {}, 500) == std::pair(0, count));
  CHECK(shown_steps({}, {}, 4) == std::pair(0, 0));
  Look look;
  const Drawing near = strategy_drawing(*plan, path, step_subject(StepId(3)), 1, look, {600, 400});
  const Drawing all = strategy_drawing(*plan, path, step_subject(StepId(3)), 500, look, {600, 400});
  const auto groups_of = [](const Drawing& drawing) {
    std::set<std::optional<StepId>> steps;
    for (const Mark& mark : drawing.marks) {
      if (mark.subject && !mark.subject->op) steps.insert(mark.subject->step);
    }
    return steps;
  };
  CHECK(groups_of(near) == std::set<std::optional<StepId>>{StepId(2), StepId(3), StepId(4)});
  CHECK(groups_of(all).size() == path.steps.size());
  for (const Mark& mark : all.marks) {
    INFO(mark.text.toStdString());
    CHECK(QRectF(QPointF(), all.size).adjusted(-1, -1, 1, 1).contains(mark.bounds().adjusted(0, 0, 0.1, 0.1)));
  }
}

TEST_CASE("strategies beside each other have the numbers of a compilation with each", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const std::vector<StrategyResult> results = compared(*plan);
  REQUIRE(results.size() == strategy_names().size());
  for (const StrategyResult& result : results) {
    INFO(result.strategy);
    CHECK(result.refusal.empty());
    if (result.strategy == plan->program().fusion) {
      CHECK(result.groups == plan->totals.groups);
      CHECK(result.kernels == plan->totals.kernels);
      CHECK(result.cycles == plan->totals.cycles);
      CHECK(result.bytes == plan->totals.dma.bytes);
      CHECK(result.differences.empty());
    }
    CHECK(result.cycles >= results.back().cycles);  // exact is the best
  }
  CHECK(results.back().proved);
  const StrategyResult& none = results.front();
  CHECK(none.groups == static_cast<std::int64_t>(plan->graph().operators().size()));
  REQUIRE_FALSE(none.differences.empty());
  std::int64_t change = 0;
  for (const GroupingDifference& difference : none.differences) {
    change += difference.cycles_there - difference.cycles_here;
    CHECK(difference.there.size() > difference.here.size());
  }
  CHECK(plan->totals.cycles + change == none.cycles);
  CHECK(differences_table(*plan, {none}).rows.size() == none.differences.size());
  std::stop_source stopped;
  stopped.request_stop();
  CHECK(compared(*plan, stopped.get_token()).empty());
}

TEST_CASE("why not is answered as the command line answers it", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const auto question = beside([&] { return std::make_shared<const WhyNotQuestion>(plan); });
  const auto asked = [&](const std::vector<std::string>& names) {
    return beside([&] { return question->ask(names); });
  };
  const std::vector<OpId> pair = {op_named(*plan, "conv1"), op_named(*plan, "conv2")};
  CHECK(asked({"conv1", "conv2"}) ==
        to_text(why_not(GraphFacts(plan->graph()), built_in_templates(), plan->compilation.fusion, pair), plan->graph(),
                plan->compilation.fusion));
  CHECK(asked({"conv1", "conv9"}).find("no operator or node 'conv9'") == 0);
  CHECK(asked({"conv1", "conv1"}) == "name two different operators\n");
}

TEST_CASE("going from operator to operator asks about both, going to a group about its end", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const OpId conv1 = op_named(*plan, "conv1");
  const OpId conv2 = op_named(*plan, "conv2");
  const auto subject = [&](OpId op) { return complete(*plan, {.op = op}); };
  CHECK(pair_to_ask(*plan, subject(conv1), subject(conv2)) == std::vector{conv1, conv2});
  CHECK(pair_to_ask(*plan, {}, network_subject()).empty());
  // Its group goes on behind it: the question is where the group ends.
  CHECK(pair_to_ask(*plan, {}, subject(conv1)) == pair_to_ask(*plan, {}, step_subject(subject(conv1).step)));
  for (const StepId i : plan->steps.ids()) {
    const std::vector<OpId> pair = pair_to_ask(*plan, {}, step_subject(i));
    REQUIRE(pair.size() == 2);
    const auto step_of = [&](OpId op) { return plan->step_of_operator[op]; };
    CHECK((step_of(pair[0]) == i) != (step_of(pair[1]) == i));
  }
}

TEST_CASE("the fusion pane is used with mouse and keyboard", "[inspector]") {
  OpenPane<FusionPane> opened;
  FusionPane& pane = opened.pane;
  opened.show(800, 700);
  opened.open("lenet", StepId(2));
  const LoadedPlan& plan = *opened.document.plan();
  pane.flush();
  CHECK(wait_until([&] { return !pane.busy() && !pane.answer().isEmpty(); }));
  CHECK(plan.graph().find_operator(pane.first().text().toStdString()));
  // The row of the chosen group is the current one; an arrow key leads elsewhere, and everybody follows.
  const QModelIndex current = pane.candidates().view().currentIndex();
  REQUIRE(current.isValid());
  pane.candidates().view().setFocus();
  QTest::keyClick(&pane.candidates().view(), current.row() == 0 ? Qt::Key_Down : Qt::Key_Up);
  CHECK(pane.candidates().view().currentIndex().row() != current.row());
  CHECK(opened.selection.canGoBack());
  // A question of one's own.
  pane.first().setText(QStringLiteral("conv1"));
  pane.second().setText(QStringLiteral("conv2"));
  QTest::keyClick(&pane.second(), Qt::Key_Return);
  REQUIRE(wait_until([&] { return !pane.busy(); }));
  CHECK(pane.answer().startsWith(QStringLiteral("conv1 + conv2: ")));
  // A click on a group of the strategy graph chooses it.
  pane.setTab(FusionPane::path_tab);
  opened.selection.select(step_subject(StepId(0)));
  pane.flush();
  const auto& marks = pane.path().drawing().marks;
  const auto group = std::find_if(marks.begin(), marks.end(), [](const Mark& mark) {
    return mark.subject && *mark.subject == step_subject(StepId(1));
  });
  REQUIRE(group != marks.end());
  QTest::mouseClick(pane.path().viewport(), Qt::LeftButton, {}, group->rect.center().toPoint());
  CHECK(opened.selection.subject().step == StepId(1));
  // Strategies, and cancelling them.
  pane.setTab(FusionPane::strategies_tab);
  pane.compare();
  REQUIRE(wait_until([&] { return !pane.busy(); }));
  CHECK(pane.strategies().model().rowCount() == static_cast<int>(strategy_names().size()));
  CHECK(pane.differences().model().rowCount() > 0);
  pane.compare();
  opened.document.show(sample_plan("matmul"));
  pane.flush();
  CHECK(pane.strategies().model().rowCount() == 0);
  CHECK(wait_until([&] { return !pane.busy(); }));
}

}  // namespace
}  // namespace stowage::test
