// SPDX-License-Identifier: Apache-2.0
#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>

#include "driver/report/plan_tables.h"
#include "inspector/tables/table_view.h"
#include "tests/inspector/window_fixture.h"

namespace stowage::test {
namespace {

using namespace inspector;

TablePtr shared(Table table) { return std::make_shared<const Table>(std::move(table)); }

TEST_CASE("every table keeps the contract of Qt's models", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  Look look;
  TableModel model(look);
  TableFilter filter;
  filter.setSourceModel(&model);
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  const QAbstractItemModelTester filtered(&filter, QAbstractItemModelTester::FailureReportingMode::Fatal);
  for (const auto make : {groups_table, operators_table, buffers_table, dma_table}) {
    const Table table = make(*plan);
    REQUIRE_FALSE(table.rows.empty());
    for (const Row& row : table.rows) CHECK(row.cells.size() == table.columns.size());
    model.setTable(shared(table), 1e9);
    filter.sort(1, Qt::DescendingOrder);
    filter.setPattern(QRegularExpression(QStringLiteral("conv")));
    filter.setStep(StepId(0));
    filter.setStep(std::nullopt);
    filter.setPattern(QRegularExpression());
    CHECK(filter.rowCount() == static_cast<int>(table.rows.size()));
    look.setUnits({TimeUnit::seconds, ByteUnit::exact});
    look.setUnits({});
  }
  model.setTable(nullptr, 1);
  CHECK(model.rowCount() == 0);
}

TEST_CASE("tables sum to the totals of the session", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const auto sum = [](const Table& table, const std::string& column) {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < table.rows.size(); ++i) rows.push_back(i);
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (table.columns[c].title == column) return std::get<std::int64_t>(totals_row(table, rows).cells[c]);
    }
    return std::int64_t{-1};
  };
  const Table groups = groups_table(*plan);
  CHECK(sum(groups, "DMA bytes") == plan->totals.dma.bytes);
  CHECK(sum(groups, "transfers") == plan->totals.dma.transfers);
  CHECK(sum(groups, "operations") == plan->totals.dma.operations);
  CHECK(sum(groups, "cycles") == plan->totals.cycles);
  CHECK(sum(groups, "operators") == plan->totals.operators);
  const Table dma = dma_table(*plan);
  CHECK(sum(dma, "bytes") == plan->totals.dma.bytes);
  CHECK(sum(dma, "operations") == plan->totals.dma.operations);
}

TEST_CASE("the papers' matmul as a table of its DMA", "[inspector]") {
  const Table table = dma_table(*sample_plan("matmul"));
  std::vector<std::size_t> rows = {0, 1, 2};
  CHECK(to_tsv(table, rows, {1, 2, 3, 4, 5, 6, 7}) ==
        "statement\tDMA\ttensor\tinside\ttransfers\toperations\tbytes\n"
        "6\tget\tA\tko\t128\t128\t32768\n"
        "7\tget\tB\tko\t128\t128\t4194304\n"
        "11\tput\tC\tyo\t8\t8\t4096\n");
}

TEST_CASE("the window shows the columns and cells of the driver's tables, for people", "[inspector]") {
  const PlanPtr plan = sample_plan("matmul");
  Look look;
  TableModel model(look);
  const PlanTable buffers = plan_buffers_table(plan->program());
  model.setTable(shared(buffers_table(*plan)), 1e9);
  REQUIRE(model.rowCount() == static_cast<int>(buffers.rows.size()));
  REQUIRE(model.columnCount() == static_cast<int>(buffers.columns.size()));
  for (int c = 0; c < model.columnCount(); ++c) {
    const Column& column = buffers.columns[static_cast<std::size_t>(c)];
    CHECK(model.headerData(c, Qt::Horizontal, Qt::ToolTipRole).toString().toStdString() == column.tip);
  }
  const std::size_t box = columns_by_key(buffers.columns, {"extents"}).front();
  CHECK(std::get<std::string>(buffers.rows[0].cells[box]) == "1x64");
  CHECK(model.text(model.table()->rows[0], box) == QStringLiteral("1 × 64"));
  CHECK(model.table()->rows[1].subject == buffer_subject(StepId(0), BufferId(1)));

  Table transfers = dma_table(*plan);
  const std::size_t inside = columns_by_key(transfers.columns, {"inside loop"}).front();
  transfers.rows[0].cells[inside] = std::string();
  model.setTable(shared(transfers), 1e9);
  CHECK(model.text(model.table()->rows[0], inside) == QStringLiteral("(outside the loops)"));
  CHECK(model.text(model.table()->rows[1], inside) == QStringLiteral("ko"));
  CHECK(to_csv(transfers, {0}, {inside}) == "inside\n\n");
}

TEST_CASE("a view sorts, filters, totals and copies what it shows", "[inspector]") {
  Look look;
  TableView view(look);
  view.resize(900, 300);
  view.setTable(shared(groups_table(*sample_plan("lenet"))), 1e9);
  const auto all = view.shownRows().size();
  view.setPattern(QRegularExpression(QStringLiteral("conv")));
  const auto some = view.shownRows().size();
  CHECK(some > 0);
  CHECK(some < all);
  CHECK(view.totals().model()->index(0, 0).data().toString() == QStringLiteral("%1 of %2 rows").arg(some).arg(all));
  view.view().sortByColumn(4, Qt::DescendingOrder);
  const auto rows = view.shownRows();
  const Table& table = *view.model().table();
  for (std::size_t i = 1; i < rows.size(); ++i) {
    CHECK(std::get<std::int64_t>(table.rows[rows[i - 1]].cells[4]) >=
          std::get<std::int64_t>(table.rows[rows[i]].cells[4]));
  }
  view.view().setColumnHidden(2, true);
  const std::string csv = view.csv();
  CHECK(csv.substr(0, csv.find('\n')) ==
        "#,group,operators,cycles,share,DMA bytes,transfers,operations,LDM,LDM use,x limit,x bytes");
  CHECK(std::count(csv.begin(), csv.end(), '\n') == static_cast<std::ptrdiff_t>(some + 1));
  view.show();
  view.activateWindow();
  view.view().setFocus();
  REQUIRE(QTest::qWaitForWindowActive(&view));
  QTest::keyClick(&view.view(), Qt::Key_C, Qt::ControlModifier);
  CHECK(QApplication::clipboard()->text().startsWith(QStringLiteral("#\tgroup\t")));
  QTest::keyClick(&view.view(), Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
  CHECK(QApplication::clipboard()->text().startsWith(QStringLiteral("|")));
}

TEST_CASE("rows lead to places and places to rows", "[inspector]") {
  Look look;
  TableView view(look);
  view.setTable(shared(dma_table(*sample_plan("matmul"))), 1e9);
  QSignalSpy chosen(&view, &TableView::chosen);
  view.setChosen(statement_subject(StepId(0), StatementId(7)));
  CHECK(chosen.count() == 0);  // following is not choosing
  CHECK(view.view().currentIndex().row() == 1);
  view.view().selectRow(2);
  REQUIRE(chosen.count() == 1);
  CHECK(chosen[0][0].value<Subject>() == statement_subject(StepId(0), StatementId(11)));
}

TEST_CASE("a row that was left by going up can be chosen again", "[inspector]") {
  Look look;
  TableView view(look);
  view.resize(900, 300);
  view.setTable(shared(groups_table(*sample_plan("lenet"))), 1e9);
  view.show();
  QSignalSpy chosen(&view, &TableView::chosen);
  const auto click = [&] {
    const QRect cell = view.view().visualRect(view.view().model()->index(2, 1));
    QTest::mouseClick(view.view().viewport(), Qt::LeftButton, {}, cell.center());
  };
  click();
  REQUIRE(chosen.count() == 1);
  view.setChosen(step_subject(StepId(2)));
  click();
  CHECK(chosen.count() == 1);  // it is chosen already
  view.setChosen(network_subject());
  CHECK(view.view().selectionModel()->selectedRows().isEmpty());
  SECTION("by mouse") { click(); }
  SECTION("by keyboard") { QTest::keyClick(&view.view(), Qt::Key_Return); }
  REQUIRE(chosen.count() == 2);
  CHECK(chosen[1][0].value<Subject>() == step_subject(StepId(2)));
  CHECK(view.view().selectionModel()->selectedRows().size() == 1);
}

TEST_CASE("Ctrl+C copies the chosen rows only, and all where none is chosen", "[inspector]") {
  Look look;
  TableView view(look);
  view.resize(900, 300);
  view.setTable(shared(dma_table(*sample_plan("matmul"))), 1e9);
  view.show();
  view.activateWindow();
  view.view().setFocus();
  REQUIRE(QTest::qWaitForWindowActive(&view));
  const auto copied = [&](Qt::KeyboardModifiers more) {
    QTest::keyClick(&view.view(), Qt::Key_C, Qt::ControlModifier | more);
    return QApplication::clipboard()->text().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  };
  CHECK(copied({}).size() == 1 + 3);  // the headings
  view.view().selectRow(1);
  REQUIRE(copied({}).size() == 1 + 1);
  CHECK(copied({})[1].startsWith(QStringLiteral("matmul\t7\tget\tB\t")));
  CHECK(copied(Qt::ShiftModifier).size() == 2 + 1);
  view.view().selectAll();
  CHECK(copied({}).size() == 1 + 3);
  view.view().sortByColumn(1, Qt::DescendingOrder);
  view.view().clearSelection();
  view.view().selectionModel()->select(view.view().model()->index(0, 0),
                                       QItemSelectionModel::Select | QItemSelectionModel::Rows);
  view.view().selectionModel()->select(view.view().model()->index(1, 0),
                                       QItemSelectionModel::Select | QItemSelectionModel::Rows);
  const QStringList two = copied({});
  REQUIRE(two.size() == 1 + 2);
  CHECK(two[1].startsWith(QStringLiteral("matmul\t11\tput")));  // as they are shown
  CHECK(two[2].startsWith(QStringLiteral("matmul\t7\tget")));
  // CSV is the table.
  const std::string csv = view.csv();
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 1 + 3);
}

TEST_CASE("the total of a column of cycles is a time where its rows are", "[inspector]") {
  Look look;
  look.setUnits({.time = TimeUnit::seconds});
  TableView view(look);
  const PlanPtr plan = sample_plan("lenet");
  const double clock = plan->program().target.clock_hz;
  REQUIRE(clock != 1e9);
  view.setTable(shared(groups_table(*plan)), clock);
  const auto cycles = 4;
  REQUIRE(view.model().table()->columns[cycles].title == "cycles");
  CHECK(view.totals().model()->index(0, cycles).data().toString() == seconds_text(plan->totals.cycles, clock));
  CHECK(view.model().headerData(cycles, Qt::Horizontal, Qt::DisplayRole).toString() == QStringLiteral("time"));
  CHECK(view.csv().find(",cycles,") != std::string::npos);  // where it is cycles
  look.setUnits({});
  CHECK(view.model().headerData(cycles, Qt::Horizontal, Qt::DisplayRole).toString() == QStringLiteral("cycles"));
}

TEST_CASE("sizes are rounded or exact, in columns wide enough for them", "[inspector]") {
  Look look;
  TableView view(look);
  Table table;
  table.title = "sizes";
  table.columns = {keyed("what", "what", ColumnKind::text, ""), keyed("b", {"b", ColumnKind::bytes, "", true})};
  table.rows = {{{"all", std::int64_t{16'700'000'000}}, {}}};
  view.setTable(shared(table), 1e9);
  const QModelIndex total = view.totals().model()->index(0, 1);
  CHECK(total.data().toString() == QStringLiteral("15.55 GiB"));
  const int rounded = view.view().columnWidth(1);
  look.setUnits({.bytes = ByteUnit::exact});
  CHECK(total.data().toString() == count_text(16'700'000'000) + QStringLiteral(" B"));
  CHECK(view.view().columnWidth(1) > rounded);
  CHECK(view.totals().columnWidth(1) == view.view().columnWidth(1));
  CHECK(view.csv() == "what,b\nall,16700000000\n");  // plain digits in either
}

TEST_CASE("the column chooser hides a column from the screen, from copies and from the totals", "[inspector]") {
  const PlanPtr plan = sample_plan("lenet");
  const Look look;
  TableView table(look);
  table.setTable(std::make_shared<const Table>(groups_table(*plan)), plan->program().target.clock_hz);
  const auto titles = [&] {
    const std::string csv = table.csv();
    return csv.substr(0, csv.find_first_of("\r\n"));
  };
  CHECK(titles().find("template") != std::string::npos);
  CHECK(titles().find("flop/byte") == std::string::npos);  // hidden at first
  QMenu menu;
  table.fillColumnMenu(menu);
  REQUIRE(menu.actions().size() == static_cast<int>(groups_table(*plan).columns.size()));
  const auto action = [&](const QString& title) {
    for (QAction* entry : menu.actions()) {
      if (entry->text() == title) return entry;
    }
    FAIL("no column " << title.toStdString());
    return menu.actions().front();
  };
  CHECK(action(QStringLiteral("template"))->isChecked());
  action(QStringLiteral("template"))->trigger();
  action(QStringLiteral("flop/byte"))->trigger();
  CHECK(titles().find("template") == std::string::npos);
  CHECK(titles().find("flop/byte") != std::string::npos);
  CHECK(table.view().isColumnHidden(2));
  CHECK(table.totals().isColumnHidden(2));
  CHECK(table.markdown().find("template") == std::string::npos);
}

TEST_CASE("what was chosen of a column stays with it when it is called something else", "[inspector]") {
  const Look look;
  TableView view(look);
  const auto show = [&](const std::string& first, const std::string& second) {
    Table table;
    table.title = "numbers";
    table.columns = {keyed("a", first, ColumnKind::count, ""), keyed("b", second, ColumnKind::count, "")};
    table.rows = {{{std::int64_t{1}, std::int64_t{2}}, {}}, {{std::int64_t{2}, std::int64_t{1}}, {}}};
    view.setTable(shared(table), 1);
  };
  show("one", "two");
  QMenu menu;
  view.fillColumnMenu(menu);
  menu.actions()[0]->setChecked(false);
  view.view().horizontalHeader()->setSortIndicator(1, Qt::AscendingOrder);
  REQUIRE(view.shownRows() == std::vector<std::size_t>{1, 0});
  show("two", "one");
  CHECK(view.shownColumns() == std::vector<std::size_t>{1});
  CHECK(view.shownRows() == std::vector<std::size_t>{1, 0});
  Table unnamed;
  unnamed.columns = {{"one", ColumnKind::count, ""}};
  CHECK_THROWS_WITH(view.setTable(shared(unnamed), 1), Catch::Contains("the column one has no key"));
}

TEST_CASE("long texts are folded in the picture of a table", "[inspector]") {
  const Look look;
  TableView view(look);
  Table table;
  table.title = "words";
  table.columns = {keyed("n", "n", ColumnKind::count, ""), keyed("text", "text", ColumnKind::text, "")};
  std::string sentence;
  for (int i = 0; i < 60; ++i) sentence += "word" + std::to_string(i) + " ";
  table.rows = {{{std::int64_t{1}, sentence}, {}}, {{std::int64_t{2}, std::string("short")}, {}}};
  view.setTable(std::make_shared<const Table>(table), 1);
  const Drawing drawing = view.drawing();
  CHECK(drawing.size.width() < 800);
  QString all;
  QRectF before;
  for (const Mark& mark : drawing.marks) {
    if (mark.kind != Mark::Kind::text || mark.rect.left() < 30) continue;
    all += mark.text + QLatin1Char(' ');
    CHECK(QFontMetricsF(mark.font).horizontalAdvance(mark.text) <= mark.rect.width() + 1);
  }
  for (int i = 0; i < 60; ++i) CHECK(all.contains(QStringLiteral("word%1 ").arg(i)));
}

}  // namespace
}  // namespace stowage::test
