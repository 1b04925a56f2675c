// SPDX-License-Identifier: Apache-2.0
#include "inspector/window/start_page.h"

#include <QCoreApplication>
#include <QDir>

#include <QHBoxLayout>
#include <QVBoxLayout>

#include "inspector/state/files.h"

namespace stowage::inspector {

std::vector<Sample> find_samples() {
  const QStringList roots = {QCoreApplication::applicationDirPath() + QStringLiteral("/samples"),
                             QCoreApplication::applicationDirPath() + QStringLiteral("/../share/stowage/samples")};
  const std::vector<std::pair<QString, QString>> known = {
      {QStringLiteral("matmul"), StartPage::tr("the papers' matmul, on one core: where its DMA stands, and why")},
      {QStringLiteral("lenet"), StartPage::tr("LeNet on SW26010: a small network, all of it")}};
  std::vector<Sample> samples;
  for (const QString& root : roots) {
    for (const auto& [name, summary] : known) {
      const QString folder = QDir::cleanPath(root + QLatin1Char('/') + name);
      if (is_file(folder + QStringLiteral("/plan.json"))) samples.push_back({name, summary, folder});
    }
    if (!samples.empty()) break;
  }
  return samples;
}

StartPage::StartPage(const Look& look, QWidget* parent)
    : QWidget(parent),
      look_(look),
      title_(new QLabel(tr("Stowage inspector"), this)),
      summary_(new QLabel(tr("See a plan, understand why it is so, change it, compare it.\n"
                             "Drop an ONNX model, a compiled folder, a batch file or an exercise here."),
                          this)),
      samples_(new QListWidget(this)),
      recent_(new QListWidget(this)),
      progress_row_(new QWidget(this)),
      progress_text_(new QLabel(progress_row_)) {
  auto* model = new QPushButton(tr("Open &model or batch file…"), this);
  auto* folder = new QPushButton(tr("Open &compiled folder…"), this);
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(model);
  buttons->addWidget(folder);
  buttons->addStretch();

  auto* bar = new QProgressBar(progress_row_);
  bar->setRange(0, 0);
  bar->setTextVisible(false);
  bar->setMaximumWidth(160);
  auto* cancel = new QPushButton(tr("Cancel"), progress_row_);
  auto* progress = new QHBoxLayout(progress_row_);
  progress->setContentsMargins(0, 0, 0, 0);
  progress->addWidget(bar);
  progress->addWidget(progress_text_, 1);
  progress->addWidget(cancel);
  progress_row_->hide();

  auto* column = new QVBoxLayout;
  column->setSpacing(10);
  column->addStretch(1);
  column->addWidget(title_);
  column->addWidget(summary_);
  column->addLayout(buttons);
  column->addWidget(progress_row_);
  column->addWidget(new QLabel(tr("Samples, open at once"), this));
  column->addWidget(samples_);
  column->addWidget(new QLabel(tr("Recent"), this));
  column->addWidget(recent_);
  column->addStretch(2);
  auto* outer = new QHBoxLayout(this);
  outer->addStretch(1);
  outer->addLayout(column, 3);
  outer->addStretch(1);

  setFocusProxy(samples_);
  samples_->setAccessibleName(tr("Samples"));
  recent_->setAccessibleName(tr("Recent files"));
  connect(samples_, &QListWidget::itemActivated, this,
          [this](QListWidgetItem* item) { Q_EMIT sampleRequested(item->data(Qt::UserRole).toString()); });
  connect(recent_, &QListWidget::itemActivated, this,
          [this](QListWidgetItem* item) { Q_EMIT openRequested(item->data(Qt::UserRole).toString()); });
  connect(model, &QPushButton::clicked, this, &StartPage::modelDialogRequested);
  connect(folder, &QPushButton::clicked, this, &StartPage::folderDialogRequested);
  connect(cancel, &QPushButton::clicked, this, &StartPage::cancelRequested);
  connect(&look, &Look::changed, this, &StartPage::restyle);
  restyle();
}

void StartPage::restyle() {
  QFont font = look_.titleFont();
  font.setPointSizeF(look_.pointSize() * 2);
  title_->setFont(font);
  samples_->setMaximumHeight(look_.lines(4));
  recent_->setMaximumHeight(look_.lines(12));
}

void StartPage::setSamples(const std::vector<Sample>& samples) {
  samples_->clear();
  for (const Sample& sample : samples) {
    auto* item = new QListWidgetItem(sample.name + QStringLiteral(" — ") + sample.summary, samples_);
    item->setData(Qt::UserRole, sample.folder);
  }
  samples_->setCurrentRow(0);
}

void StartPage::setRecent(const QStringList& recent) {
  recent_->clear();
  for (const QString& path : recent) {
    auto* item = new QListWidgetItem(path, recent_);
    item->setData(Qt::UserRole, path);
  }
}

void StartPage::setProgress(bool busy, const QString& text) {
  progress_row_->setVisible(busy);
  progress_text_->setText(text);
}

}  // namespace stowage::inspector
