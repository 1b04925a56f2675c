// SPDX-License-Identifier: Apache-2.0
#include "inspector/tables/table_model.h"

#include <QRegularExpression>
#include <algorithm>
#include <cstdlib>
#include <limits>

namespace stowage::inspector {

namespace {

template <class Number>
QString with_sign(Number change, const QString& size) {
  if (change == 0) return QStringLiteral("–");
  return (change > 0 ? QStringLiteral("+") : QStringLiteral("−")) + size;
}

double number_in(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  const auto* fraction = std::get_if<double>(&cell);
  return fraction != nullptr ? *fraction : -std::numeric_limits<double>::infinity();  // an empty one comes first
}

char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool before(const Cell& a, const Cell& b) {
  const auto* first = std::get_if<std::string>(&a);
  const auto* second = std::get_if<std::string>(&b);
  if (first != nullptr && second != nullptr) {
    return std::lexicographical_compare(first->begin(), first->end(), second->begin(), second->end(),
                                        [](char x, char y) { return lower_case(x) < lower_case(y); });
  }
  if (first != nullptr || second != nullptr) return first == nullptr;
  const auto* whole = std::get_if<std::int64_t>(&a);
  const auto* other = std::get_if<std::int64_t>(&b);
  return whole != nullptr && other != nullptr ? *whole < *other : number_in(a) < number_in(b);
}

}  // namespace

TableModel::TableModel(const Look& look, QObject* parent)
    : QAbstractTableModel(parent), look_(look), table_(std::make_shared<Table>()) {
  connect(&look, &Look::changed, this, [this] {
    if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    if (columnCount() > 0) Q_EMIT headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
  });
}

void TableModel::setTable(TablePtr table, double clock_hz) {
  beginResetModel();
  table_ = table ? std::move(table) : std::make_shared<const Table>();
  clock_hz_ = clock_hz;
  endResetModel();
}

QString TableModel::text(const Row& row, std::size_t column) const {
  const Cell& cell = row.cells[column];
  ColumnKind kind = table_->columns[column].kind;
  if (const auto* text = std::get_if<std::string>(&cell)) {
    QString shown = QString::fromStdString(text->empty() ? table_->columns[column].absent : *text);
    if (kind == ColumnKind::extents) shown.remove(QLatin1Char(' ')).replace(QLatin1Char('x'), QStringLiteral(" × "));
    return shown;
  }
  const bool of_row = row.measure != ColumnKind::count;
  kind = measured_kind(kind, row.measure);
  const auto time = [&](std::int64_t cycles) {  // a heading tells what it is only where all rows are that
    return (of_row ? full_time_text : time_text)(cycles, clock_hz_, look_.units());
  };
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    if (kind == ColumnKind::bytes) return size_text(*whole, look_.units());
    if (kind == ColumnKind::cycles) return time(*whole);
    if (kind == ColumnKind::count) return count_text(*whole);
    const std::int64_t size = std::abs(*whole);
    return with_sign(*whole, kind == ColumnKind::bytes_change    ? size_text(size, look_.units())
                             : kind == ColumnKind::cycles_change ? time(size)
                                                                 : count_text(size));
  }
  if (const auto* fraction = std::get_if<double>(&cell)) {
    if (kind == ColumnKind::share) return percent_text(*fraction);
    if (kind == ColumnKind::rate) return rate_text(*fraction);
    if (kind == ColumnKind::seconds) return qt(stowage::seconds_text(*fraction));
    if (kind == ColumnKind::share_change) return with_sign(*fraction, percent_text(std::abs(*fraction)));
    return format("{:.2f}", *fraction);
  }
  return {};
}

QString TableModel::title(std::size_t column) const {
  const Column& shown = table_->columns[column];
  QString title = QString::fromStdString(shown.title);
  const bool is_time = shown.kind == ColumnKind::cycles || shown.kind == ColumnKind::cycles_change;
  if (is_time && look_.units().time == TimeUnit::seconds) title.replace(QStringLiteral("cycles"), tr("time"));
  return title;
}

int TableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_->rows.size());
}

int TableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_->columns.size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount() || index.column() >= columnCount()) return {};
  const auto column = static_cast<std::size_t>(index.column());
  const Row& row = table_->rows[static_cast<std::size_t>(index.row())];
  const Cell& cell = row.cells[column];
  const ColumnKind kind = table_->columns[column].kind;
  switch (role) {
    case Qt::DisplayRole: return text(row, column);
    case Qt::TextAlignmentRole:
      return QVariant(std::holds_alternative<std::string>(cell) ? Qt::AlignLeft | Qt::AlignVCenter
                                                                : Qt::AlignRight | Qt::AlignVCenter);
    case Qt::ToolTipRole: {
      QString tip = text(row, column);
      if (const auto* bytes = std::get_if<std::int64_t>(&cell); bytes != nullptr && kind == ColumnKind::bytes) {
        tip = tr("%1 bytes").arg(count_text(*bytes));
      }
      if (const auto* cycles = std::get_if<std::int64_t>(&cell); cycles != nullptr && kind == ColumnKind::cycles) {
        tip = tr("%1 cycles, %2").arg(count_text(*cycles), seconds_text(*cycles, clock_hz_));
      }
      return tip + QLatin1Char('\n') + QString::fromStdString(table_->columns[column].tip);
    }
    case ShareRole:
      if (const auto* share = std::get_if<double>(&cell); share != nullptr && kind == ColumnKind::share) return *share;
      return {};
    default: return {};
  }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const Column& column = table_->columns[static_cast<std::size_t>(section)];
  if (role == Qt::DisplayRole) return title(static_cast<std::size_t>(section));
  if (role == Qt::ToolTipRole) return QString::fromStdString(column.tip);
  if (role == Qt::TextAlignmentRole) {
    return QVariant(is_text(column.kind) ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter);
  }
  return {};
}

TableFilter::TableFilter(QObject* parent) : QSortFilterProxyModel(parent) { setDynamicSortFilter(true); }

void TableFilter::setPattern(const QRegularExpression& pattern) {
  pattern_ = pattern;
  invalidateFilter();
}

void TableFilter::setStep(std::optional<StepId> step) {
  if (step == step_) return;
  step_ = step;
  invalidateFilter();
}

bool TableFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  // The cells themselves: as QVariants those of a table of thousands of rows would keep the window waiting.
  const auto& rows = qobject_cast<const TableModel*>(sourceModel())->table()->rows;
  const auto cell = [&](const QModelIndex& index) -> const Cell& {
    return rows[static_cast<std::size_t>(index.row())].cells[static_cast<std::size_t>(index.column())];
  };
  return before(cell(left), cell(right));
}

bool TableFilter::filterAcceptsRow(int row, const QModelIndex&) const {
  const auto* model = qobject_cast<const TableModel*>(sourceModel());
  if (model == nullptr) return true;
  const Row& values = model->table()->rows[static_cast<std::size_t>(row)];
  if (step_ && values.subject.step != step_) return false;
  if (pattern_.pattern().isEmpty()) return true;
  for (const Cell& cell : values.cells) {
    const auto* text = std::get_if<std::string>(&cell);
    if (text != nullptr && pattern_.match(QString::fromStdString(*text)).hasMatch()) return true;
  }
  return false;
}

}  // namespace stowage::inspector
