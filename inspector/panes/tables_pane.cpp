// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/tables_pane.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>
#include <array>

#include "inspector/compare/compare_tables.h"
#include "inspector/state/files.h"

namespace stowage::inspector {

namespace {

struct TableRow {
  const char* title;
  Table (*make)(const LoadedPlan& plan);
  Table (*compare)(const PlanComparison& comparison);
};

constexpr std::array tables = {
    TableRow{QT_TRANSLATE_NOOP("Tables", "Groups"), groups_table, compared_groups},
    TableRow{QT_TRANSLATE_NOOP("Tables", "Operators"), operators_table, compared_operators},
    TableRow{QT_TRANSLATE_NOOP("Tables", "Buffers"), buffers_table, compared_buffers},
    TableRow{QT_TRANSLATE_NOOP("Tables", "DMA operations"), dma_table, compared_dma},
};

}  // namespace

TablesPane::TablesPane(const PaneContext& context)
    : Pane(context),
      tabs_(new QTabBar(this)),
      stack_(new QStackedWidget(this)),
      filter_(new FilterLine(this)),
      only_chosen_(new QCheckBox(tr("Selected group only"), this)) {
  tabs_->setDocumentMode(true);
  tabs_->setExpanding(false);
  tabs_->setDrawBase(false);
  filter_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  filter_->setAccessibleName(tr("Filter of the table"));
  auto* csv = new QToolButton(this);
  csv->setText(tr("CSV…"));
  csv->setToolTip(tr("Save what is shown as comma-separated values"));
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(4, 2, 6, 2);
  bar->addWidget(tabs_);
  bar->addStretch();
  bar->addWidget(only_chosen_);
  bar->addWidget(filter_, 1);
  bar->addWidget(csv);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(bar);
  layout->addWidget(stack_);
  for (const TableRow& row : tables) {
    auto* view = new TableView(look(), this);
    tabs_->addTab(tr(row.title));
    stack_->addWidget(view);
    views_.push_back(view);
    connect(view, &TableView::chosen, &selection(), &Selection::select);
  }
  connect(tabs_, &QTabBar::currentChanged, this, [this](int index) {
    static_cast<void>(table(index));
    stack_->setCurrentIndex(index);
  });
  connect(filter_, &FilterLine::patternChanged, this, [this](const QRegularExpression& pattern) {
    for (TableView* view : views_) view->setPattern(pattern);
  });
  connect(filter_, &FilterLine::refused, this, &Pane::message);
  connect(filter_, &FilterLine::accepted, this, &Pane::messageOver);
  connect(only_chosen_, &QCheckBox::toggled, this, [this] { refresh(selection_changed); });
  connect(csv, &QToolButton::clicked, this, &TablesPane::askAndSave);
}

/// Of a large network each is thousands of rows.
TableView& TablesPane::table(int index) {
  const auto i = static_cast<std::size_t>(index);
  if (outdated_.erase(index) == 0) return *views_[i];
  TablePtr table;
  if (plan()) {
    table = std::make_shared<const Table>(compared_ ? tables[i].compare(*compared_) : tables[i].make(*plan()));
  }
  views_[i]->setTable(std::move(table), plan() ? plan()->program().target.clock_hz : 1);
  follow(*views_[i], i == 0);
  return *views_[i];
}

void TablesPane::follow(TableView& view, bool groups) {
  const bool one = only_chosen_->isChecked() && subject().step && !groups;
  view.setStep(one ? subject().step : std::nullopt);
  view.setChosen(subject());
}

void TablesPane::refresh(unsigned changes) {
  if ((changes & plan_changed) != 0 || compared_ != document().comparison()) {
    compared_ = document().comparison();
    for (int i = 0; i < count(); ++i) outdated_.insert(i);
    static_cast<void>(current());
  } else if ((changes & selection_changed) != 0) {
    for (int i = 0; i < count(); ++i) {
      if (!outdated_.contains(i)) follow(*views_[static_cast<std::size_t>(i)], i == 0);
    }
  }
}

void TablesPane::askAndSave() {
  const QString path = QFileDialog::getSaveFileName(this, tr("Save table"), QString(), tr("Tables (*.csv)"));
  if (!path.isEmpty()) saveCsv(path);
}

void TablesPane::saveCsv(const QString& path) {
  const QByteArray text = QByteArray::fromStdString(current().csv());
  writing_.start([this, path, text](const std::stop_token&, const ProgressSink&) -> Background::Deliver {
    const QString problem = write_file(path, text);
    return [this, path, problem] { Q_EMIT message(problem.isEmpty() ? tr("Saved %1").arg(path) : problem); };
  });
}

QSizeF TablesPane::exportSize(QSizeF) { return current().drawing().size; }

void TablesPane::draw(QPainter& painter, QSizeF) { paint(painter, current().drawing()); }

}  // namespace stowage::inspector
