// SPDX-License-Identifier: Apache-2.0
// A Table for Qt's views: text to show, values to sort by, tooltips, subjects.
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
#include <optional>

#include "inspector/look/look.h"
#include "inspector/tables/table.h"

namespace stowage::inspector {

class TableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Role {
    ShareRole = Qt::UserRole  ///< double from 0 to 1, of share columns: a bar is drawn
  };
  explicit TableModel(const Look& look, QObject* parent = nullptr);

  void setTable(TablePtr table, double clock_hz);
  [[nodiscard]] const TablePtr& table() const { return table_; }
  [[nodiscard]] double clockHz() const { return clock_hz_; }
  /// Heading of a column as it is shown: cycles are times where the look says so.
  [[nodiscard]] QString title(std::size_t column) const;
  /// Text of a cell as it is shown.
  [[nodiscard]] QString text(const Row& row, std::size_t column) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  const Look& look_;
  TablePtr table_;  ///< never null
  double clock_hz_ = 1;
};

/// Rows that match a text and, where wanted, one step.
class TableFilter : public QSortFilterProxyModel {
  Q_OBJECT
 public:
  explicit TableFilter(QObject* parent = nullptr);
  void setPattern(const QRegularExpression& pattern);
  void setStep(std::optional<StepId> step);

 protected:
  [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
  [[nodiscard]] bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

 private:
  QRegularExpression pattern_;
  std::optional<StepId> step_;
};

}  // namespace stowage::inspector
