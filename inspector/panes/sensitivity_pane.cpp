// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/sensitivity_pane.h"

#include <QFontMetricsF>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "driver/sensitivity/curve_page.h"
#include "driver/sensitivity/curve_tables.h"
#include "inspector/draw/scene_drawing.h"
#include "inspector/draw/wrapped_text.h"

namespace stowage::inspector {

namespace {

constexpr double margin = drawing::margin;
constexpr const char* usual_key = "target.ldm.bytes";

}  // namespace

SensitivityPane::SensitivityPane(const PaneContext& context)
    : Pane(context),
      key_(new QComboBox(this)),
      from_(new QLineEdit(this)),
      to_(new QLineEdit(this)),
      by_(new QComboBox(this)),
      amount_(new QLineEdit(this)),
      calculate_(new QPushButton(tr("Calculate"), this)),
      bar_(new QProgressBar(this)),
      chart_(new DrawingView(look(), this)),
      words_(new QPlainTextEdit(this)) {
  auto* split = new QSplitter(Qt::Vertical, this);
  split->addWidget(chart_);
  split->addWidget(words_);
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 1);
  chart_->setAccessibleName(tr("Curve"));
  chart_->setBuilder([this](QSizeF room) { return picture(room); });
  words_->setReadOnly(true);
  words_->setFrameShape(QFrame::NoFrame);
  words_->setTabChangesFocus(true);
  words_->setAccessibleName(tr("Knees"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  makeBar();
  layout->addWidget(split, 1);
}

void SensitivityPane::makeBar() {
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(6, 3, 6, 3);
  bar->setSpacing(6);
  bar->addWidget(key_, 2);
  bar->addWidget(new QLabel(tr("from"), this));
  bar->addWidget(from_, 1);
  bar->addWidget(new QLabel(tr("to"), this));
  bar->addWidget(to_, 1);
  bar->addWidget(by_);
  bar->addWidget(amount_, 1);
  bar->addWidget(calculate_);
  auto* column = static_cast<QVBoxLayout*>(layout());
  column->addLayout(bar);
  column->addWidget(bar_);
  bar_->setTextVisible(true);
  bar_->hide();
  key_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  key_->setMinimumContentsLength(12);
  key_->setAccessibleName(tr("Value of the target"));
  by_->addItems({tr("times"), tr("plus")});
  by_->setAccessibleName(tr("How a value follows from the one before"));
  from_->setAccessibleName(tr("First value"));
  to_->setAccessibleName(tr("No value is larger"));
  amount_->setAccessibleName(tr("Factor or step"));
  calculate_->setToolTip(tr("Compiles the network anew for every value"));
  connect(key_, &QComboBox::currentIndexChanged, this, &SensitivityPane::showRange);
  for (QLineEdit* field : {from_, to_, amount_})
    connect(field, &QLineEdit::returnPressed, this, &SensitivityPane::calculate);
  connect(calculate_, &QPushButton::clicked, this, [this] {
    if (calculating_.busy()) {
      calculating_.cancel();
    } else {
      calculate();
    }
  });
  connect(&calculating_, &Background::busyChanged, this, [this] {
    calculate_->setText(calculating_.busy() ? tr("Cancel") : tr("Calculate"));
    bar_->setVisible(calculating_.busy());
  });
  connect(&calculating_, &Background::progress, this, [this](const QString& stage, int done, int total) {
    bar_->setRange(0, total);
    bar_->setValue(done);
    bar_->setFormat(stage);
  });
  connect(&calculating_, &Background::fault, this, &SensitivityPane::message);
}

void SensitivityPane::refresh(unsigned changes) {
  if ((changes & plan_changed) != 0) showPlan();
  if ((changes & look_changed) != 0) {
    words_->setFont(look().textFont());
    words_->setMinimumHeight(look().lines(2));
    for (QLineEdit* field : {from_, to_, amount_}) field->setMinimumWidth(look().characters(6));
  }
  if ((changes & (plan_changed | look_changed)) != 0) chart_->rebuild();
}

void SensitivityPane::showPlan() {
  calculating_.cancel();
  curve_.reset();
  words_->clear();
  const QString before = key_->currentText();
  {
    const QSignalBlocker blocker(key_);
    key_->clear();
    if (plan()) {
      for (const auto& [key, value] : curve_keys(plan()->program().target)) key_->addItem(qt(key));
    }
    const int known = key_->findText(before);
    key_->setCurrentIndex(known >= 0 ? known : std::max(0, key_->findText(QString::fromLatin1(usual_key))));
  }
  for (QWidget* part : {static_cast<QWidget*>(key_), static_cast<QWidget*>(calculate_)})
    part->setEnabled(plan() != nullptr);
  showRange();
}

void SensitivityPane::showRange() {
  const RangeText usual = plan() ? usual_range(*plan(), key_->currentText().toStdString()) : RangeText();
  from_->setText(qt(usual.from));
  to_->setText(qt(usual.to));
  by_->setCurrentIndex(usual.factor.empty() ? 1 : 0);
  amount_->setText(qt(usual.factor.empty() ? usual.step : usual.factor));
}

RangeText SensitivityPane::range() const {
  const std::string amount = amount_->text().trimmed().toStdString();
  const bool is_factor = by_->currentIndex() == 0;
  return {from_->text().trimmed().toStdString(), to_->text().trimmed().toStdString(), is_factor ? "" : amount,
          is_factor ? amount : ""};
}

void SensitivityPane::calculate() {
  if (!plan()) return;
  calculating_.start([this, plan = plan(), key = key_->currentText().toStdString(), range = range()](
                         std::stop_token stop, const ProgressSink& progress) -> Background::Deliver {
    AskedCurve asked = ask_curve(*plan, key, range, stop, progress);
    if (stop.stop_requested()) return {};
    return [this, asked = std::move(asked)] { take(asked); };
  });
}

void SensitivityPane::take(const AskedCurve& asked) {
  curve_ = asked.curve;
  QStringList lines;
  if (!asked.told.empty()) lines.push_back(qt(asked.told));
  if (curve_) {
    for (const std::string& line : knee_lines(*curve_)) lines.push_back(qt(line));
    for (const std::string& line : refusal_lines(*curve_)) lines.push_back(qt(line));
  }
  words_->setPlainText(lines.join(QLatin1Char('\n')));
  chart_->rebuild();
}

Drawing SensitivityPane::picture(QSizeF room) const {
  if (curve_ && curve_->has_plan()) return drawn(curve_chart(*curve_, sheet_of(look(), room)), look());
  Drawing drawing;
  const QString hint = !plan() ? QString()
                       : curve_
                           ? tr("There is no plan for any of these values.")
                           : tr("Calculate compiles the network anew for every value, with everything else as it is.");
  double y = margin;
  const double row = QFontMetricsF(look().textFont()).height();
  for (const QString& line : wrapped(hint, look().textFont(), room.width() - 2 * margin)) {
    drawing.text({margin, y, room.width() - 2 * margin, row}, line, theme().muted, look().textFont());
    y += row;
  }
  drawing.size = QSizeF(room.width(), y + margin);
  return drawing;
}

Drawing SensitivityPane::wordsDrawing(double width) const {
  Drawing drawing;
  double y = 4;
  const double row = QFontMetricsF(look().textFont()).height();
  for (const QString& paragraph : words_->toPlainText().split(QLatin1Char('\n'))) {
    for (const QString& line : wrapped(paragraph, look().textFont(), width - 2 * margin)) {
      drawing.text({margin, y, width - 2 * margin, row}, line, theme().text, look().textFont());
      y += row;
    }
  }
  drawing.size = QSizeF(width, y + margin);
  return drawing;
}

QSizeF SensitivityPane::exportSize(QSizeF room) {
  const QSizeF upper = picture({room.width(), room.height() / 2}).size;
  return {upper.width(), upper.height() + wordsDrawing(upper.width()).size.height()};
}

void SensitivityPane::draw(QPainter& painter, QSizeF size) {
  const Drawing lower = wordsDrawing(size.width());
  const Drawing upper = picture({size.width(), size.height() - lower.size.height()});
  paint(painter, upper);
  painter.translate(0, upper.size.height());
  paint(painter, lower);
}

}  // namespace stowage::inspector
