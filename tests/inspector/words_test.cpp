// SPDX-License-Identifier: Apache-2.0
// The terms of the field, held in what the window says.
#include <QAction>
#include <QToolButton>
#include <catch2/catch.hpp>

#include "inspector/compare/compare_tables.h"
#include "inspector/cost/cost_chart.h"
#include "inspector/fusion/strategy_comparison.h"
#include "inspector/panes/what_if_pane.h"
#include "inspector/window/help.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

std::string words_of(const Table& table) {
  std::string words;
  for (const Column& column : table.columns) words += column.title + ": " + column.tip + '\n';
  return words;
}

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

TEST_CASE("a change is the number now minus the one before", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const ComparisonPtr same = beside([&] { return compare_plans(plan, plan); });
  QString chart;
  for (const Mark& mark : cost_terms(*plan, StepId(0), Look(), {900, 400}, same.get()).marks) chart += mark.text;
  CHECK(chart.contains(QStringLiteral("Δ is now minus before.")));
  CHECK(says(words_of(changes_table(same->diff)), "Δ cycles: now minus before: below zero is faster"));
  CHECK(says(words_of(compared_groups(*same)), "Δ cycles: now minus the baseline's"));
  CHECK(says(words_of(totals_table(same->diff)), "Δ: current minus baseline"));
  for (const Table& table : {changes_table(same->diff), compared_groups(*same), compared_operators(*same),
                             compared_buffers(*same), compared_dma(*same), totals_table(same->diff)}) {
    INFO(words_of(table));
    CHECK_FALSE(says(words_of(table), " less "));
  }
}

TEST_CASE("strategies are compared by this plan and that strategy", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const Table table = differences_table(*plan, {});
  std::vector<std::string> titles;
  for (const Column& column : table.columns) titles.push_back(column.title);
  CHECK(titles == std::vector<std::string>{"strategy", "this plan", "that strategy", "cycles of this plan",
                                           "cycles of that strategy", "change"});
  CHECK_FALSE(says(words_of(table), " here"));
  CHECK_FALSE(says(words_of(table), " there"));
  CHECK_FALSE(says(words_of(table), " less "));
}

TEST_CASE("the help says pan and apply", "[inspector]") {
  Look look;
  HelpWindow help(look, nullptr);
  help.showAt({});
  const QString text = help.page().toPlainText();
  CHECK(text.contains(QStringLiteral("graph: Shift+arrows, Page Up, Page Down\npan")));
  CHECK(text.contains(QStringLiteral("whatif: Enter on a way to group\napply")));
  CHECK_FALSE(text.contains(QStringLiteral("sight")));
  CHECK_FALSE(text.contains(QStringLiteral("fuse so")));
}

TEST_CASE("the button that drops all edits says so, and so does undo", "[inspector]") {
  Look look;
  Document document;
  Selection selection(document);
  WhatIfPane pane(PaneContext{document, selection, look});
  document.show(sample_plan("matmul"));
  selection.select(step_subject(StepId(0)));
  pane.flush();
  REQUIRE(wait_until([&] { return pane.session().latest() != nullptr && !pane.session().pending(); }));
  pane.session().setTarget("cores.count", "2", QStringLiteral("cores"));
  QToolButton* discard = nullptr;
  for (auto* button : pane.findChildren<QToolButton*>()) {
    CHECK(button->text() != QStringLiteral("As opened"));
    if (button->text() == QStringLiteral("Discard edits")) discard = button;
  }
  REQUIRE(discard != nullptr);
  discard->click();
  CHECK(pane.session().edit().empty());
  CHECK(pane.session().history().undoText() == QStringLiteral("discard edits"));
  REQUIRE(wait_until([&] { return !pane.session().pending(); }));
}

}  // namespace
}  // namespace stowage::test
