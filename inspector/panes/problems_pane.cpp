// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/problems_pane.h"

#include <QDesktopServices>
#include <QFileInfo>
#include <QFontMetricsF>
#include <QHeaderView>
#include <QSplitter>
#include <QUrl>
#include <QVBoxLayout>

#include "inspector/draw/drawing.h"
#include "inspector/state/files.h"

namespace stowage::inspector {

namespace {

QString where(const SourceLocation& location) {
  QString text = QFileInfo(qt(location.file)).fileName();
  if (location.line > 0) text += format(":{}", location.line);
  if (location.line > 0 && location.column > 0) text += format(":{}", location.column);
  if (!location.object.empty()) text += QStringLiteral("  ") + qt(location.object);
  return text;
}

}  // namespace

Subject subject_of(const LoadedPlan& plan, const Diagnostic& diagnostic) {
  // Objects read "node conv1 (Conv)": the longest name in it counts.
  Subject found;
  std::size_t longest = 0;
  const auto consider = [&](const std::string& name, const Subject& subject) {
    if (name.size() > longest && !name.empty() && diagnostic.location.object.find(name) != std::string::npos) {
      longest = name.size();
      found = subject;
    }
  };
  for (const OpId i : plan.step_of_operator.ids()) {
    const Operator& op = plan.graph().op(i);
    const Subject subject = op_subject(plan.step_of_operator[i], i);
    consider(op.name, subject);
    for (const std::string& origin : op.origins) consider(origin, subject);
  }
  for (const StepId i : plan.steps.ids()) {
    consider(plan.steps[i].step->group.name, step_subject(i));
  }
  return found;
}

ProblemsPane::ProblemsPane(const PaneContext& context)
    : Pane(context), list_(new QTreeWidget(this)), details_(new QPlainTextEdit(this)) {
  list_->setHeaderLabels({tr("severity"), tr("location"), tr("problem"), tr("code")});
  list_->setRootIsDecorated(false);
  list_->setUniformRowHeights(true);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setAccessibleName(tr("Problems"));
  details_->setReadOnly(true);
  details_->setFrameShape(QFrame::NoFrame);
  details_->setPlaceholderText(tr("Nothing was reported."));
  auto* split = new QSplitter(Qt::Horizontal, this);
  split->addWidget(list_);
  split->addWidget(details_);
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 2);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(split);
  connect(&document(), &Document::diagnosticsChanged, this, [this] { refresh(plan_changed); });
  connect(list_, &QTreeWidget::currentItemChanged, this,
          [this](QTreeWidgetItem* item) { showDetails(list_->indexOfTopLevelItem(item)); });
  connect(list_, &QTreeWidget::itemActivated, this,
          [this](QTreeWidgetItem* item) { jump(list_->indexOfTopLevelItem(item)); });
}

void ProblemsPane::refresh(unsigned changes) {
  details_->setFont(look().codeFont());
  if ((changes & (plan_changed | look_changed)) == 0) return;
  list_->clear();
  details_->clear();
  for (const Diagnostic& diagnostic : document().diagnostics().entries()) {
    const bool error = diagnostic.severity == Severity::error;
    auto* item = new QTreeWidgetItem(list_, {error ? tr("✖ error") : tr("▲ warning"), where(diagnostic.location),
                                             qt(diagnostic.message), qt(diagnostic.code)});
    item->setForeground(0, error ? theme().error : theme().warning);
    item->setToolTip(1, qt(diagnostic.location.file));
    item->setToolTip(2, qt(format_diagnostic(diagnostic)));
  }
  for (int column = 0; column < 2; ++column) list_->resizeColumnToContents(column);
  list_->setColumnWidth(1, std::min(list_->columnWidth(1) + 8, look().characters(44)));
  list_->setColumnWidth(2, std::max(list_->width() / 2, look().characters(42)));
  if (list_->topLevelItemCount() > 0) list_->setCurrentItem(list_->topLevelItem(0));
}

void ProblemsPane::showDetails(int row) {
  const auto entries = document().diagnostics().entries();
  if (row < 0 || static_cast<std::size_t>(row) >= entries.size()) return details_->clear();
  details_->setPlainText(qt(format_diagnostic(entries[static_cast<std::size_t>(row)])));
}

void ProblemsPane::jump(int row) {
  const auto entries = document().diagnostics().entries();
  if (row < 0 || static_cast<std::size_t>(row) >= entries.size()) return;
  const Diagnostic& diagnostic = entries[static_cast<std::size_t>(row)];
  if (plan()) {
    if (const Subject found = subject_of(*plan(), diagnostic); found != Subject{}) return selection().select(found);
  }
  const QString file = qt(diagnostic.location.file);
  if (diagnostic.location.line <= 0) return;
  looking_.start([this, file, line = diagnostic.location.line](const std::stop_token&,
                                                               const ProgressSink&) -> Background::Deliver {
    if (!is_file(file)) return {};
    return [this, file, line] {
      QDesktopServices::openUrl(QUrl::fromLocalFile(QFileInfo(file).absoluteFilePath()));
      Q_EMIT message(tr("%1, line %2").arg(file).arg(line));
    };
  });
}

QSizeF ProblemsPane::exportSize(QSizeF room) {
  const QFontMetricsF metrics(look().codeFont());
  const QString text = qt(format_diagnostics(document().diagnostics()));
  double width = room.width();
  for (const QString& line : text.split(QLatin1Char('\n'))) {
    width = std::max(width, metrics.horizontalAdvance(line) + 32);
  }
  return {width, metrics.lineSpacing() * static_cast<double>(text.count(QLatin1Char('\n')) + 1) + 32};
}

void ProblemsPane::draw(QPainter& painter, QSizeF size) {
  const QString text = document().diagnostics().entries().empty() ? tr("No problems.")
                                                                  : qt(format_diagnostics(document().diagnostics()));
  painter.setFont(look().codeFont());
  painter.setPen(theme().text);
  painter.drawText(QRectF(QPointF(16, 16), size - QSizeF(32, 32)), Qt::AlignLeft | Qt::AlignTop, text);
}

}  // namespace stowage::inspector
