// SPDX-License-Identifier: Apache-2.0
#include "inspector/tables/table_view.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QFontMetricsF>
#include <QHeaderView>
#include <QMenu>
#include <QPainter>
#include <QRegularExpression>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "inspector/draw/wrapped_text.h"

namespace stowage::inspector {

namespace {

/// Columns are as wide as the texts of so many rows; to measure thousands would keep the window waiting.
constexpr int rows_measured = 200;

/// Draws shares with a bar behind their number.
class BarDelegate : public QStyledItemDelegate {
 public:
  BarDelegate(const Look& look, QObject* parent) : QStyledItemDelegate(parent), look_(look) {}
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const QVariant share = index.data(TableModel::ShareRole);
    if (share.isValid() && (option.state & QStyle::State_Selected) == 0) {
      QRectF bar = QRectF(option.rect).adjusted(2, 3, -2, -3);
      bar.setWidth(bar.width() * std::clamp(share.toDouble(), 0.0, 1.0));
      painter->fillRect(bar, look_.theme().category(5));
    }
    QStyledItemDelegate::paint(painter, option, index);
  }

 private:
  const Look& look_;
};

}  // namespace

TableView::TableView(const Look& look, QWidget* parent)
    : QWidget(parent),
      look_(look),
      model_(new TableModel(look, this)),
      filter_(new TableFilter(this)),
      totals_model_(new TableModel(look, this)),
      view_(new QTableView(this)),
      totals_(new QTableView(this)) {
  filter_->setSourceModel(model_);
  view_->setModel(filter_);
  totals_->setModel(totals_model_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(view_);
  layout->addWidget(totals_);
  for (QTableView* table : {view_, totals_}) {
    table->setItemDelegate(new BarDelegate(look, table));
    table->setWordWrap(false);
    table->setShowGrid(false);
    table->verticalHeader()->hide();
    table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  }
  view_->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);  // in the table's own order
  view_->setSortingEnabled(true);
  view_->setAlternatingRowColors(true);
  view_->setSelectionBehavior(QAbstractItemView::SelectRows);
  view_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  view_->setTabKeyNavigation(false);
  view_->setContextMenuPolicy(Qt::CustomContextMenu);
  view_->horizontalHeader()->setHighlightSections(false);
  view_->horizontalHeader()->setResizeContentsPrecision(rows_measured);
  view_->horizontalHeader()->setContextMenuPolicy(Qt::CustomContextMenu);
  view_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);  // so that the totals below line up
  totals_->horizontalHeader()->hide();
  totals_->setFocusPolicy(Qt::NoFocus);
  totals_->setSelectionMode(QAbstractItemView::NoSelection);
  totals_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  totals_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);

  connect(view_, &QWidget::customContextMenuRequested, this,
          [this](QPoint at) { showMenu(view_->viewport()->mapToGlobal(at)); });
  connect(view_->horizontalHeader(), &QWidget::customContextMenuRequested, this,
          [this](QPoint at) { showMenu(view_->horizontalHeader()->mapToGlobal(at)); });
  connect(view_->horizontalHeader(), &QHeaderView::sectionResized, this,
          [this](int section, int, int width) { totals_->setColumnWidth(section, width); });
  connect(view_->horizontalScrollBar(), &QScrollBar::valueChanged, totals_->horizontalScrollBar(),
          &QScrollBar::setValue);
  connect(filter_, &QAbstractItemModel::rowsInserted, this, &TableView::updateTotals);
  connect(filter_, &QAbstractItemModel::rowsRemoved, this, &TableView::updateTotals);
  connect(filter_, &QAbstractItemModel::modelReset, this, &TableView::updateTotals);
  connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (following_ || !current.isValid()) return;
    const QModelIndex source = filter_->mapToSource(current);
    chosen_ = model_->table()->rows[static_cast<std::size_t>(source.row())].subject;
    Q_EMIT chosen(Subject(chosen_));  // what follows may choose something else here
  });

  connect(view_, &QAbstractItemView::clicked, this, &TableView::chooseAgain);
  connect(view_, &QAbstractItemView::activated, this, &TableView::chooseAgain);

  const auto copy = [this](const QKeySequence& keys, const QString& name, auto text) {
    auto* action = new QAction(name, this);
    action->setShortcut(keys);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(action, &QAction::triggered, this,
            [this, text] { QApplication::clipboard()->setText(qt((this->*text)())); });
    addAction(action);
  };
  connect(&look, &Look::changed, this, [this] {
    // Numbers have another length, or letters another size.
    fitRows();
    const bool other = look_.units() != fitted_units_ || view_->font() != fitted_font_;
    if (other && model_->columnCount() > 0) fitColumns();
  });
  copy(QKeySequence::Copy, tr("Copy as TSV"), &TableView::tsv);
  copy(QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), tr("Copy as Markdown"), &TableView::markdown);
  fitRows();
}

void TableView::setTable(TablePtr table, double clock_hz) {
  rememberOrder();
  model_->setTable(std::move(table), clock_hz);
  totals_model_->setTable(nullptr, clock_hz);
  updateTotals();
  if (model_->table()->columns.empty()) return;
  check_keys(model_->table()->columns);
  // The same column may stand at another place now.
  for (int c = 0; c < model_->columnCount(); ++c) {
    view_->setColumnHidden(c, !isWanted(*model_->table(), model_->table()->columns[static_cast<std::size_t>(c)]));
  }
  restoreOrder();
  fitColumns();
}

void TableView::fitRows() {
  const int row = view_->fontMetrics().height() + 8;
  view_->verticalHeader()->setDefaultSectionSize(row);
  totals_->verticalHeader()->setDefaultSectionSize(row);
  totals_->setFixedHeight(row + 2);
  view_->setMinimumHeight(view_->horizontalHeader()->sizeHint().height() + row);
}

bool TableView::isWanted(const Table& table, const Column& column) const {
  const auto wanted = wanted_.find({table.title, column.key});
  if (wanted != wanted_.end()) return wanted->second;
  if (column.of.empty()) return column.shown;
  return isWanted(table, table.columns[columns_by_key(table.columns, {column.of}).front()]);
}

void TableView::rememberOrder() {
  const Table& table = *model_->table();
  if (table.columns.empty()) return;
  const int column = view_->horizontalHeader()->sortIndicatorSection();
  ordered_table_ = table.title;
  ordered_column_ = column >= 0 && column < model_->columnCount() ? table.columns[static_cast<std::size_t>(column)].key
                                                                  : std::string();
}

void TableView::restoreOrder() {
  QHeaderView& header = *view_->horizontalHeader();
  const Table& table = *model_->table();
  int column = -1;
  for (int c = 0; c < model_->columnCount() && table.title == ordered_table_ && !ordered_column_.empty(); ++c) {
    if (table.columns[static_cast<std::size_t>(c)].key == ordered_column_) column = c;
  }
  header.setSortIndicator(column, column >= 0 ? header.sortIndicatorOrder() : Qt::AscendingOrder);
}

void TableView::chooseAgain(const QModelIndex& index) {
  const QModelIndex source = filter_->mapToSource(index);
  if (!source.isValid()) return;
  const Subject subject = model_->table()->rows[static_cast<std::size_t>(source.row())].subject;
  if (subject == chosen_ || holds(subject, chosen_)) return;
  if (!view_->selectionModel()->isRowSelected(index.row(), {})) view_->selectRow(index.row());
  chosen_ = subject;
  Q_EMIT chosen(subject);
}

void TableView::fitColumns() {
  constexpr int narrowest = 7;  // in characters
  constexpr int widest = 46;
  fitted_units_ = look_.units();
  fitted_font_ = view_->font();
  const int character = view_->fontMetrics().averageCharWidth();
  view_->resizeColumnsToContents();
  for (int c = 0; c < model_->columnCount(); ++c) {
    int needed = view_->columnWidth(c);
    if (model_->table()->columns[static_cast<std::size_t>(c)].summed) {  // a sum is often longer than what it sums
      totals_->resizeColumnToContents(c);
      needed = std::max(needed, totals_->columnWidth(c));
    }
    view_->setColumnWidth(c, std::clamp(needed + character, narrowest * character, widest * character));
    totals_->setColumnHidden(c, view_->isColumnHidden(c));
    totals_->setColumnWidth(c, view_->columnWidth(c));
  }
}

void TableView::setPattern(const QRegularExpression& pattern) { filter_->setPattern(pattern); }

void TableView::setStep(std::optional<StepId> step) { filter_->setStep(step); }

void TableView::setChosen(const Subject& subject) {
  chosen_ = subject;
  following_ = true;
  const auto row_of = [&](const auto& matches) {
    for (int row = 0; row < filter_->rowCount(); ++row) {
      const QModelIndex source = filter_->mapToSource(filter_->index(row, 0));
      if (matches(model_->table()->rows[static_cast<std::size_t>(source.row())].subject)) return row;
    }
    return -1;
  };
  int row = row_of([&](const Subject& shown) { return holds(shown, subject); });
  // Where the table has nothing so exact, its first row of the same step.
  if (row < 0 && subject.step) row = row_of([&](const Subject& shown) { return shown.step == subject.step; });
  const QModelIndex current = view_->currentIndex();
  const bool there =
      current.isValid() && row >= 0 &&
      holds(model_->table()->rows[static_cast<std::size_t>(filter_->mapToSource(current).row())].subject, subject);
  if (row < 0) {
    view_->clearSelection();
  } else if (!there) {
    view_->selectRow(row);
    view_->scrollTo(filter_->index(row, 0));
  }
  following_ = false;
}

void TableView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  // What is chosen stays in sight.
  if (view_->currentIndex().isValid()) view_->scrollTo(view_->currentIndex());
}

std::vector<std::size_t> TableView::shownRows() const {
  std::vector<std::size_t> rows;
  for (int row = 0; row < filter_->rowCount(); ++row) {
    rows.push_back(static_cast<std::size_t>(filter_->mapToSource(filter_->index(row, 0)).row()));
  }
  return rows;
}

std::vector<std::size_t> TableView::shownColumns() const {
  std::vector<std::size_t> columns;
  for (int c = 0; c < model_->columnCount(); ++c) {
    if (!view_->isColumnHidden(c)) columns.push_back(static_cast<std::size_t>(c));
  }
  return columns;
}

std::vector<std::size_t> TableView::rowsToCopy() const {
  std::vector<std::size_t> rows;
  for (const QModelIndex& index : view_->selectionModel()->selectedRows()) {
    rows.push_back(static_cast<std::size_t>(filter_->mapToSource(index).row()));
  }
  if (rows.empty()) return shownRows();
  const std::vector<std::size_t> order = shownRows();
  const auto position = [&](std::size_t row) { return std::find(order.begin(), order.end(), row); };
  std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) { return position(a) < position(b); });
  return rows;
}

std::string TableView::csv() const { return to_csv(*model_->table(), shownRows(), shownColumns()); }
std::string TableView::tsv() const { return to_tsv(*model_->table(), rowsToCopy(), shownColumns()); }
std::string TableView::markdown() const { return to_markdown(*model_->table(), rowsToCopy(), shownColumns()); }

void TableView::updateTotals() {
  auto totals = std::make_shared<Table>();
  totals->title = model_->table()->title;
  totals->columns = model_->table()->columns;
  if (!totals->columns.empty()) totals->rows.push_back(totals_row(*model_->table(), shownRows()));
  totals_model_->setTable(totals, model_->clockHz());
  // How many rows there are may stand over all columns up to the first sum.
  totals_->clearSpans();
  const auto sum =
      std::find_if(totals->columns.begin(), totals->columns.end(), [](const Column& c) { return c.summed; });
  const auto free = static_cast<int>(sum - totals->columns.begin());
  if (!totals->rows.empty() && free > 1) totals_->setSpan(0, 0, 1, free);
}

void TableView::showMenu(const QPoint& position) {
  QMenu menu(this);
  menu.addActions(actions());
  fillColumnMenu(*menu.addMenu(tr("Columns")));
  menu.exec(position);
}

void TableView::fillColumnMenu(QMenu& menu) {
  for (int c = 0; c < model_->columnCount(); ++c) {
    QAction* action = menu.addAction(model_->headerData(c, Qt::Horizontal, Qt::DisplayRole).toString());
    action->setCheckable(true);
    action->setChecked(!view_->isColumnHidden(c));
    connect(action, &QAction::toggled, this, [this, c](bool shown) {
      const Table& table = *model_->table();
      wanted_[{table.title, table.columns[static_cast<std::size_t>(c)].key}] = shown;
      view_->setColumnHidden(c, !shown);
      totals_->setColumnHidden(c, !shown);
      if (shown) view_->resizeColumnToContents(c);
    });
  }
}

Drawing TableView::drawing() const {
  const Theme& theme = look_.theme();
  const QFont font = look_.textFont();
  const QFontMetricsF metrics(font);
  const double line_height = metrics.height();
  const double row_height = line_height + 8;
  const double widest_text = metrics.averageCharWidth() * 64;  // longer ones are folded
  const std::vector<std::size_t> rows = shownRows();
  const std::vector<std::size_t> columns = shownColumns();
  const Table& table = *model_->table();
  const Row totals = columns.empty() ? Row() : totals_row(table, rows);
  // Cells in lines, which make rows as high as their highest.
  const auto lines_of = [&](const Row& row, std::size_t c) {
    const QString text = model_->text(row, c);
    return std::holds_alternative<std::string>(row.cells[c]) ? wrapped(text, font, widest_text) : QStringList(text);
  };
  std::vector<double> heights(rows.size(), row_height);
  std::vector<double> widths;
  for (const std::size_t c : columns) {
    double width = metrics.horizontalAdvance(model_->title(c));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const QStringList lines = lines_of(table.rows[rows[r]], c);
      for (const QString& line : lines) width = std::max(width, metrics.horizontalAdvance(line));
      heights[r] = std::max(heights[r], line_height * static_cast<double>(lines.size()) + 8);
    }
    widths.push_back(std::max(width, metrics.horizontalAdvance(model_->text(totals, c))) + 14);
  }
  Drawing drawing;
  double x = 16;
  double bottom = 0;
  const double top = 16;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::size_t c = columns[i];
    const double width = widths[i];
    const int alignment = Qt::AlignVCenter | (is_text(table.columns[c].kind) ? Qt::AlignLeft : Qt::AlignRight);
    const auto cell = [&](double y, const QString& text, const QColor& color) {
      drawing.text({x + 4, y, width - 8, row_height}, text, color, font, alignment);
    };
    cell(top, model_->title(c), theme.muted);
    double y = top + row_height;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const Row& row = table.rows[rows[r]];
      const auto* share = std::get_if<double>(&row.cells[c]);
      if (share != nullptr && table.columns[c].kind == ColumnKind::share) {
        drawing.rect({x + 2, y + 3, (width - 4) * std::clamp(*share, 0.0, 1.0), row_height - 6}, theme.category(5));
      }
      double at = y;
      for (const QString& line : lines_of(row, c)) {
        cell(at, line, theme.text);
        at += line_height;
      }
      y += heights[r];
    }
    cell(y, model_->text(totals, c), theme.text);
    bottom = y;
    x += width;
  }
  drawing.line({16, top + row_height}, {x, top + row_height}, theme.line);
  drawing.line({16, bottom}, {x, bottom}, theme.line);
  drawing.size = QSizeF(x + 16, bottom + row_height + 16);
  return drawing;
}

}  // namespace stowage::inspector
