// SPDX-License-Identifier: Apache-2.0
// Two plans beside each other: the comparison as a value, changes in tables, graph and cost, and the pane.
#include <QHeaderView>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "inspector/compare/compare_tables.h"
#include "inspector/cost/cost_chart.h"
#include "inspector/graph/graph_colours.h"
#include "inspector/panes/compare_pane.h"
#include "inspector/panes/graph_pane.h"
#include "inspector/panes/tables_pane.h"
#include "inspector/whatif/evaluate.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

/// LeNet with ip1 taken apart and conv2 planned by smaller buffers; made once.
PlanPtr changed_plan() {
  static PlanPtr plan;
  if (plan) return plan;
  const PlanPtr base = sample_plan("lenet");
  PlanEdit edit;
  edit.groups = {{"ip1"}, {"relu1"}};
  edit.schedules["conv2"].buffer["xx"] = 4;
  Diagnostics diagnostics;
  plan = beside([&] { return plan_network(base, edit, diagnostics, {}, {}); });
  INFO(format_diagnostics(diagnostics));
  REQUIRE(plan);
  return plan;
}

ComparisonPtr comparison() {
  static ComparisonPtr made;
  if (!made) made = beside([] { return compare_plans(sample_plan("lenet"), changed_plan()); });
  return made;
}

std::size_t column_of(const Table& table, const std::string& title) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].title == title) return c;
  }
  FAIL("no column " << title);
  return 0;
}

std::int64_t sum_of(const Table& table, const std::string& title) {
  const std::size_t c = column_of(table, title);
  std::int64_t sum = 0;
  for (const Row& row : table.rows) {
    if (const auto* number = std::get_if<std::int64_t>(&row.cells[c])) sum += *number;
  }
  return sum;
}

TEST_CASE("steps of two plans find each other through their operators", "[inspector]") {
  const PlanComparison& both = *comparison();
  const StepId conv2 = step_named(*both.current, "conv2");
  CHECK(both.baseline_step(conv2) == step_named(*both.baseline, "conv2"));
  CHECK(both.change_of(conv2)->kind == GroupChange::Kind::planned);
  const StepId ip1 = step_named(*both.current, "ip1");
  const StepId relu1 = step_named(*both.current, "relu1");
  CHECK(both.change_of(ip1) == both.change_of(relu1));
  CHECK(both.change_of(ip1)->kind == GroupChange::Kind::regrouped);
  CHECK_FALSE(both.baseline_step(ip1));
  CHECK(both.leads(ip1));
  CHECK_FALSE(both.leads(relu1));
  CHECK(both.change_of(step_named(*both.current, "pool1"))->kind == GroupChange::Kind::same);
  CHECK(both.change_of(std::nullopt) == nullptr);
  CHECK(both.change_of(StepId(99)) == nullptr);
}

TEST_CASE("columns of changes add up to the change of the whole network", "[inspector]") {
  const PlanComparison& both = *comparison();
  const Table groups = compared_groups(both);
  CHECK(sum_of(groups, "Δ cycles") == both.current->totals.cycles - both.baseline->totals.cycles);
  CHECK(sum_of(groups, "Δ DMA bytes") == both.current->totals.dma.bytes - both.baseline->totals.dma.bytes);
  CHECK(sum_of(groups, "Δ transfers") == both.current->totals.dma.transfers - both.baseline->totals.dma.transfers);
  CHECK(sum_of(groups, "Δ operations") == both.current->totals.dma.operations - both.baseline->totals.dma.operations);
  for (const Row& row : groups.rows) CHECK(row.cells.size() == groups.columns.size());
  const Row& ip1 = groups.rows[step_named(*both.current, "ip1").index()];
  CHECK(std::get<std::string>(ip1.cells.back()).starts_with("fused otherwise: ip1"));
  const Row& pool1 = groups.rows[step_named(*both.current, "pool1").index()];
  CHECK(std::get<std::int64_t>(pool1.cells[column_of(groups, "Δ cycles")]) == 0);
  CHECK(std::get<std::string>(pool1.cells.back()) == "the same");
}

TEST_CASE("operators, buffers and transfers say what is other", "[inspector]") {
  const PlanComparison& both = *comparison();
  const auto row_of = [](const Table& table, const std::string& column, const std::string& text,
                         std::optional<StepId> step) {
    const std::size_t c = column_of(table, column);
    for (const Row& row : table.rows) {
      const auto* cell = std::get_if<std::string>(&row.cells[c]);
      if (cell != nullptr && *cell == text && (!step || row.subject.step == step)) return row;
    }
    FAIL("no row " << text);
    return Row();
  };
  const Table operators = compared_operators(both);
  const Row relu = row_of(operators, "operator", "relu1", std::nullopt);
  CHECK(std::get<std::string>(relu.cells[column_of(operators, "group")]) == "relu1");
  CHECK(std::get<std::string>(relu.cells[column_of(operators, "group before")]) == "ip1");
  const Row conv = row_of(operators, "operator", "conv1", std::nullopt);
  CHECK(std::holds_alternative<std::monostate>(conv.cells[column_of(operators, "group before")]));

  const StepId conv2 = step_named(*both.current, "conv2");
  const Table buffers = compared_buffers(both);
  const Row result = row_of(buffers, "tensor", "conv2", conv2);
  CHECK(std::get<std::int64_t>(result.cells[column_of(buffers, "Δ bytes")]) < 0);
  CHECK_FALSE(std::get<std::string>(result.cells[column_of(buffers, "box before")]).empty());

  const Table dma = compared_dma(both);
  const Row put = row_of(dma, "DMA", "put", conv2);
  CHECK(std::get<std::int64_t>(put.cells[column_of(dma, "Δ transfers")]) > 0);
  CHECK(std::get<std::int64_t>(put.cells[column_of(dma, "Δ bytes")]) == 0);  // the same elements, in smaller parts
  for (const Table* table : {&operators, &buffers, &dma}) {
    for (const Row& row : table->rows) CHECK(row.cells.size() == table->columns.size());
  }
}

TEST_CASE("a plan compared with itself changes nowhere", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const ComparisonPtr same = beside([&] { return compare_plans(plan, plan); });
  for (const Table& table :
       {compared_groups(*same), compared_operators(*same), compared_buffers(*same), compared_dma(*same)}) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const bool number = table.columns[c].title.rfind("Δ", 0) == 0;
      const bool text = table.columns[c].title.ends_with(" before");
      if (!number && !text) continue;
      for (const Row& row : table.rows) {
        INFO(table.title << ", " << table.columns[c].title);
        const auto* change = std::get_if<std::int64_t>(&row.cells[c]);
        CHECK((std::holds_alternative<std::monostate>(row.cells[c]) || (change != nullptr && *change == 0)));
      }
    }
  }
  const Look look;
  for (const NodeColour& colour : graph_colours(*plan, GraphMetric::change, look.theme(), same.get())) {
    CHECK(colour.fill == look.theme().raised);
  }
}

TEST_CASE("the graph is coloured by gain and loss", "[inspector]") {
  const PlanComparison& both = *comparison();
  for (const bool dark : {false, true}) {
    const Theme theme = make_theme(dark);
    const auto colours = graph_colours(*both.current, GraphMetric::change, theme, &both);
    const auto at = [&](const char* name) { return colours[step_named(*both.current, name)]; };
    CHECK(at("pool1").fill == theme.raised);
    CHECK(at("conv2").fill != theme.raised);
    CHECK(at("conv2").pen == Qt::DashLine);  // slower
    CHECK(at("ip1").fill == at("relu1").fill);
    // The other way round it is a gain.
    const ComparisonPtr back = beside([&] { return compare_plans(both.current, both.baseline); });
    const auto gains = graph_colours(*both.baseline, GraphMetric::change, theme, back.get());
    const NodeColour gain = gains[step_named(*both.baseline, "conv2")];
    CHECK(gain.pen == Qt::SolidLine);
    CHECK(gain.fill != at("conv2").fill);
  }
}

TEST_CASE("the cost of a group shows the baseline's", "[inspector]") {
  const PlanComparison& both = *comparison();
  const Look look;
  const auto texts = [&](std::optional<StepId> step, const PlanComparison* with) {
    QString all;
    for (const Mark& mark : cost_terms(*both.current, step, look, {900, 400}, with).marks)
      all += mark.text + QLatin1Char('\n');
    return all;
  };
  const StepId conv2 = step_named(*both.current, "conv2");
  CHECK_FALSE(texts(conv2, nullptr).contains(QStringLiteral("Δ")));
  CHECK(texts(conv2, &both).contains(QStringLiteral("Δ +")));
  CHECK(texts(std::nullopt, &both).contains(QStringLiteral("Δ +")));
  CHECK(texts(step_named(*both.current, "pool1"), &both).contains(QStringLiteral("Δ –")));
  // One below the other, to the right.
  std::set<double> ends;
  for (const Mark& mark : cost_terms(*both.current, std::nullopt, Look(), {900, 400}, &both).marks) {
    if (mark.text.startsWith(QStringLiteral("Δ "))) ends.insert(std::round(mark.rect.right()));
  }
  CHECK(ends.size() == 1);
}

struct Compared {
  Look look;
  Document document;
  Selection selection{document};
  Compared() {
    document.show(changed_plan());
    document.showBaseline(sample_plan("lenet"));
    REQUIRE(wait_until([&] { return document.comparison() != nullptr; }));
  }
};

TEST_CASE("the compare pane tells verdict, groups and what of one is other", "[inspector]") {
  Compared compared;
  ComparePane pane({compared.document, compared.selection, compared.look});
  pane.resize(1000, 700);
  pane.show();
  pane.flush();
  CHECK(pane.verdictText().contains(QStringLiteral("slower")));
  const Table& changes = *pane.changes().model().table();
  CHECK(sum_of(changes, "Δ cycles") == changed_plan()->totals.cycles - sample_plan("lenet")->totals.cycles);
  CHECK(pane.totals().model().rowCount() > 8);
  // A row chosen by keyboard is the group everywhere, and its differences are listed.
  pane.changes().view().setFocus();
  pane.changes().view().selectRow(0);
  const auto first = compared.selection.subject().step;
  QTest::keyClick(&pane.changes().view(), Qt::Key_Down);
  const auto second = compared.selection.subject().step;
  CHECK(second);
  CHECK(second != first);
  compared.selection.select(step_subject(step_named(*changed_plan(), "conv2")));
  pane.flush();
  QString details;
  const TableModel& model = pane.details().model();
  for (int row = 0; row < model.rowCount(); ++row) {
    for (int c = 0; c < model.columnCount(); ++c) details += model.index(row, c).data().toString() + QLatin1Char('|');
  }
  CHECK(details.contains(QStringLiteral("buffer of xx|")));
  CHECK(details.contains(QStringLiteral("LDM of conv2|")));
  // Without a baseline it says how to get one.
  compared.document.showBaseline(nullptr);
  pane.flush();
  CHECK(pane.verdictText().contains(QStringLiteral("Choose a baseline")));
  CHECK(pane.changes().model().rowCount() == 0);
}

TEST_CASE("baseline and current plan change places", "[inspector]") {
  Compared compared;
  ComparePane pane({compared.document, compared.selection, compared.look});
  pane.show();
  pane.flush();
  const QString before = pane.verdictText();
  for (QToolButton* button : pane.findChildren<QToolButton*>()) {
    if (button->text() == QStringLiteral("⇄")) QTest::mouseClick(button, Qt::LeftButton);
  }
  CHECK(compared.document.plan() == sample_plan("lenet"));
  CHECK(compared.document.baseline() == changed_plan());
  REQUIRE(wait_until([&] { return compared.document.comparison() != nullptr; }));
  pane.flush();
  CHECK(pane.verdictText().contains(QStringLiteral("faster")));
  CHECK(pane.verdictText() != before);
}

TEST_CASE("comparing does not change which columns are visible, nor what the rows are sorted by", "[inspector]") {
  Compared compared;
  compared.document.showBaseline(nullptr);
  TablesPane pane({compared.document, compared.selection, compared.look});
  pane.flush();
  const auto visible = [&](TableView& view, bool changes) {
    std::vector<std::string> titles;
    for (const std::size_t c : view.shownColumns()) {
      const std::string& title = view.model().table()->columns[c].title;
      const bool change = title.rfind("Δ", 0) == 0 || title.ends_with(" before") || title == "change";
      if (changes == change) titles.push_back(title);
    }
    return titles;
  };
  const auto toggle = [](TableView& view, const char* title) {
    QMenu menu;
    view.fillColumnMenu(menu);
    for (QAction* action : menu.actions()) {
      if (action->text() == QString::fromUtf8(title)) return action->trigger();
    }
    FAIL("no column " << title);
  };
  toggle(pane.table(0), "transfers");
  toggle(pane.table(0), "flop/byte");
  toggle(pane.table(3), "block bytes");
  pane.table(0).view().sortByColumn(static_cast<int>(column_of(*pane.table(0).model().table(), "operations")),
                                    Qt::DescendingOrder);
  std::vector<std::vector<std::string>> before;
  for (int i = 0; i < pane.count(); ++i) before.push_back(visible(pane.table(i), false));
  const auto sorted = [&] {
    TableView& view = pane.table(0);
    const int column = view.view().horizontalHeader()->sortIndicatorSection();
    REQUIRE(column >= 0);
    return view.model().table()->columns[static_cast<std::size_t>(column)].title;
  };
  const auto order = pane.table(0).shownRows();
  compared.document.showBaseline(sample_plan("lenet"));
  REQUIRE(wait_until([&] { return compared.document.comparison() != nullptr; }));
  pane.flush();
  for (int i = 0; i < pane.count(); ++i) {
    INFO(i);
    CHECK(visible(pane.table(i), false) == before[static_cast<std::size_t>(i)]);
    CHECK_FALSE(visible(pane.table(i), true).empty());
  }
  // The change of a column that is hidden is hidden with it.
  const std::vector<std::string> changes = visible(pane.table(0), true);
  CHECK(std::find(changes.begin(), changes.end(), "Δ operations") != changes.end());
  CHECK(std::find(changes.begin(), changes.end(), "Δ transfers") == changes.end());
  CHECK(sorted() == "operations");
  CHECK(pane.table(0).shownRows() == order);
  toggle(pane.table(0), "template");
  compared.document.showBaseline(nullptr);
  pane.flush();
  std::erase(before[0], "template");
  for (int i = 0; i < pane.count(); ++i) {
    INFO(i);
    CHECK(visible(pane.table(i), false) == before[static_cast<std::size_t>(i)]);
  }
  CHECK(sorted() == "operations");
}

TEST_CASE("columns that were hidden stay so while two plans are being compared anew", "[inspector]") {
  Compared compared;
  ComparePane pane({compared.document, compared.selection, compared.look});
  pane.flush();
  QMenu menu;
  pane.changes().fillColumnMenu(menu);
  menu.actions().back()->trigger();  // why
  const auto shown = pane.changes().shownColumns();
  REQUIRE(shown.size() + 1 == pane.changes().model().table()->columns.size());
  compared.document.showBaseline(nullptr);
  pane.flush();
  REQUIRE(pane.changes().model().columnCount() == 0);
  compared.document.showBaseline(sample_plan("lenet"));
  REQUIRE(wait_until([&] { return compared.document.comparison() != nullptr; }));
  pane.flush();
  CHECK(pane.changes().shownColumns() == shown);
}

TEST_CASE("tables and graph show changes while two plans are compared, and stop with it", "[inspector]") {
  Compared compared;
  TablesPane tables({compared.document, compared.selection, compared.look});
  GraphPane graph({compared.document, compared.selection, compared.look});
  tables.flush();
  graph.flush();
  const auto has_changes = [&](int table) {
    const auto& columns = tables.table(table).model().table()->columns;
    return std::any_of(columns.begin(), columns.end(), [](const Column& column) {
      return column.title.rfind("Δ", 0) == 0 || column.title.ends_with(" before");
    });
  };
  for (int i = 0; i < tables.count(); ++i) CHECK(has_changes(i));
  CHECK(graph.graphMetric() == GraphMetric::change);
  compared.document.showBaseline(nullptr);
  tables.flush();
  graph.flush();
  for (int i = 0; i < tables.count(); ++i) CHECK_FALSE(has_changes(i));
  CHECK(graph.graphMetric() == GraphMetric::fusion_template);
  // Colours that somebody wished stay.
  graph.setMetric(GraphMetric::ldm);
  compared.document.showBaseline(sample_plan("lenet"));
  REQUIRE(wait_until([&] { return compared.document.comparison() != nullptr; }));
  graph.flush();
  CHECK(graph.graphMetric() == GraphMetric::change);
  graph.setMetric(GraphMetric::time);
  compared.document.showBaseline(nullptr);
  graph.flush();
  CHECK(graph.graphMetric() == GraphMetric::time);
}

}  // namespace
}  // namespace stowage::test
