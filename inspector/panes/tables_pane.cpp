// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/tables_pane.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QRegularExpression>
#include <QSaveFile>
#include <QToolButton>
#include <QVBoxLayout>
#include <array>

namespace stowage::inspector {

namespace {

struct TableRow {
  const char* title;
  Table (*make)(const LoadedPlan& plan);
};

constexpr std::array tables = {
    TableRow{QT_TRANSLATE_NOOP("Tables", "Groups"), groups_table},
    TableRow{QT_TRANSLATE_NOOP("Tables", "Operators"), operators_table},
    TableRow{QT_TRANSLATE_NOOP("Tables", "Buffers"), buffers_table},
    TableRow{QT_TRANSLATE_NOOP("Tables", "DMA operations"), dma_table},
};

}  // namespace

TablesPane::TablesPane(const PaneContext& context)
    : Pane(context),
      tabs_(new QTabBar(this)),
      stack_(new QStackedWidget(this)),
      filter_(new QLineEdit(this)),
      only_chosen_(new QCheckBox(tr("Selected group only"), this)) {
  tabs_->setDocumentMode(true);
  tabs_->setExpanding(false);
  tabs_->setDrawBase(false);
  filter_->setPlaceholderText(tr("Filter (regular expression)"));
  filter_->setClearButtonEnabled(true);
  filter_->setMaximumWidth(260);
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
  connect(tabs_, &QTabBar::currentChanged, stack_, &QStackedWidget::setCurrentIndex);
  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
    const QRegularExpression pattern(text, QRegularExpression::CaseInsensitiveOption);
    if (!pattern.isValid()) {
      Q_EMIT message(tr("The filter is no regular expression: %1").arg(pattern.errorString()));
      return;
    }
    for (TableView* view : views_) view->setPattern(pattern);
  });
  connect(only_chosen_, &QCheckBox::toggled, this, [this] { refresh(selection_changed); });
  connect(csv, &QToolButton::clicked, this, &TablesPane::saveCsv);
}

void TablesPane::refresh(unsigned changes) {
  if ((changes & plan_changed) != 0) {
    for (std::size_t i = 0; i < views_.size(); ++i) {
      views_[i]->setTable(plan() ? std::make_shared<const Table>(tables[i].make(*plan())) : nullptr,
                          plan() ? plan()->program().target.clock_hz : 1);
    }
  }
  if ((changes & selection_changed) == 0) return;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const bool one = only_chosen_->isChecked() && place().step >= 0 && i > 0;
    views_[i]->setStep(one ? std::optional(place().step) : std::nullopt);
    views_[i]->setChosen(place());
  }
}

void TablesPane::saveCsv() {
  const QString path = QFileDialog::getSaveFileName(this, tr("Save table"), QString(), tr("Tables (*.csv)"));
  if (path.isEmpty()) return;
  const QByteArray text = QByteArray::fromStdString(current().csv());
  QSaveFile file(path);
  const bool done = file.open(QIODevice::WriteOnly) && file.write(text) == text.size() && file.commit();
  Q_EMIT message(done ? tr("Saved %1").arg(path) : tr("%1 cannot be written: %2").arg(path, file.errorString()));
}

QSizeF TablesPane::exportSize(QSizeF) { return current().drawing().size; }

void TablesPane::draw(QPainter& painter, QSizeF) { paint(painter, current().drawing()); }

}  // namespace stowage::inspector
