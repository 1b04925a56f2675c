// SPDX-License-Identifier: Apache-2.0
// A table on the screen: sortable, filtered, with bars for shares, a row of totals, a column chooser, and copies for
// spreadsheets and documents.
#pragma once

#include <QMenu>
#include <QTableView>
#include <QWidget>
#include <map>

#include "inspector/draw/drawing.h"
#include "inspector/tables/table_model.h"

namespace stowage::inspector {

class TableView : public QWidget {
  Q_OBJECT
 public:
  explicit TableView(const Look& look, QWidget* parent = nullptr);

  void setTable(TablePtr table, double clock_hz);
  void setPattern(const QRegularExpression& pattern);
  void setStep(std::optional<StepId> step);
  /// Selects and scrolls to the row of what is chosen.
  void setChosen(const Subject& subject);

  [[nodiscard]] TableModel& model() { return *model_; }
  [[nodiscard]] TableFilter& filter() { return *filter_; }
  [[nodiscard]] QTableView& view() { return *view_; }
  [[nodiscard]] QTableView& totals() { return *totals_; }

  /// An action for every column, ticked where it is shown.
  void fillColumnMenu(QMenu& menu);

  /// What is shown, in its order: rows and columns of the table.
  [[nodiscard]] std::vector<std::size_t> shownRows() const;
  [[nodiscard]] std::vector<std::size_t> shownColumns() const;
  [[nodiscard]] std::string csv() const;
  [[nodiscard]] std::string tsv() const;
  [[nodiscard]] std::string markdown() const;
  /// The whole table with its totals.
  [[nodiscard]] Drawing drawing() const;

 Q_SIGNALS:
  void chosen(const Subject& subject);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void showMenu(const QPoint& position);
  /// As somebody chose it; else as the table has it, and a column of changes as the column whose changes they are.
  [[nodiscard]] bool isWanted(const Table& table, const Column& column) const;
  void rememberOrder();
  void restoreOrder();
  /// Of a click or Enter: also a row that is current and was left by something chosen elsewhere.
  void chooseAgain(const QModelIndex& index);
  void updateTotals();
  void fitRows();
  void fitColumns();
  [[nodiscard]] std::vector<std::size_t> rowsToCopy() const;

  const Look& look_;
  TableModel* model_;
  TableFilter* filter_;
  TableModel* totals_model_;
  QTableView* view_;
  QTableView* totals_;
  Subject chosen_;
  /// What somebody chose of columns, by title of the table and key of the column: another table may stand here for a
  /// while.
  std::map<std::pair<std::string, std::string>, bool> wanted_;
  std::string ordered_table_;   ///< title of the table that was sorted last
  std::string ordered_column_;  ///< key of the one that it was sorted by; empty: none
  Units fitted_units_;          ///< those that the columns are wide enough for
  QFont fitted_font_;           ///< and the font
  bool following_ = false;      ///< the selection moves because of what is chosen elsewhere
};

}  // namespace stowage::inspector
