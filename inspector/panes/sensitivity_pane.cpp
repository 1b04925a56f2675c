// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/sensitivity_pane.h"

#include <QFontMetricsF>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QShortcut>
#include <QSignalBlocker>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include <fmt/format.h>

#include "driver/sensitivity/curve_page.h"
#include "driver/sensitivity/curve_tables.h"
#include "inspector/draw/scene_drawing.h"
#include "inspector/draw/wrapped_text.h"

namespace stowage::inspector {

namespace {

constexpr double margin = drawing::margin;
constexpr const char* usual_key = "target.ldm.bytes";
constexpr std::size_t most_kept = 12;

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
      tabs_(new QTabWidget(this)),
      words_(new QPlainTextEdit(this)),
      values_(new TableView(look(), this)),
      compare_(new QPushButton(tr("Compare"), this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  makeBar();
  makeLowerPart();
  auto* split = new QSplitter(Qt::Vertical, this);
  split->addWidget(chart_);
  split->addWidget(tabs_);
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 1);
  split->setChildrenCollapsible(false);
  layout->addWidget(split, 1);
  chart_->setAccessibleName(tr("Curve"));
  // The dock has a title, and the axis says what is changed: so the curve has the room.
  chart_->setBuilder([this](QSizeF room) { return picture(room, false); });
  connectParts();
}

void SensitivityPane::makeBar() {
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(6, 3, 6, 3);
  bar->setSpacing(6);
  bar->addWidget(key_, 3);
  bar->addWidget(new QLabel(tr("from"), this));
  bar->addWidget(from_, 2);
  bar->addWidget(new QLabel(tr("to"), this));
  bar->addWidget(to_, 2);
  bar->addWidget(by_);
  bar->addWidget(amount_, 1);
  bar->addWidget(calculate_);
  auto* column = static_cast<QVBoxLayout*>(layout());
  column->addLayout(bar);
  column->addWidget(bar_);
  bar_->setTextVisible(true);
  bar_->hide();
  key_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  key_->setMinimumContentsLength(14);
  by_->addItems({tr("times"), tr("plus")});
  const auto name = [](QWidget* widget, const QString& accessible, const QString& tip) {
    widget->setAccessibleName(accessible);
    widget->setToolTip(tip);
  };
  name(from_, tr("First value"), tr("The first value, as a target's file has it"));
  name(to_, tr("Last value"), tr("No value is larger than that"));
  name(by_, tr("How a value follows from the one before"),
       tr("Each value is so many times the one before, or so much more"));
  name(amount_, tr("Factor or step"), tr("How many times the one before, or how much more"));
  name(calculate_, {},
       tr("Compile the network anew for every value, with everything else as it is (Enter in a field)"));
  key_->setAccessibleName(tr("Value of the target"));
}

void SensitivityPane::makeLowerPart() {
  words_->setReadOnly(true);
  words_->setFrameShape(QFrame::NoFrame);
  words_->setTabChangesFocus(true);
  words_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  words_->setAccessibleName(tr("What changes at the knees"));
  values_->setAccessibleName(tr("Values"));
  values_->view().setAccessibleName(tr("Values"));
  values_->totals().hide();  // of other plans there is no sum
  compare_->setToolTip(
      tr("Compile the network for the chosen value and make it the baseline of what is open (Enter, or a double click "
         "on the value)"));
  tabs_->setDocumentMode(true);
  tabs_->addTab(words_, tr("Knees"));
  tabs_->addTab(values_, tr("Values"));
  tabs_->setTabToolTip(0, tr("What changes where the curve bends, and which values are refused"));
  tabs_->setTabToolTip(1, tr("The numbers of every value"));
  tabs_->setCornerWidget(compare_);
}

void SensitivityPane::connectParts() {
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
  connect(chart_, &DrawingView::itemChosen, this, [this](int item) { choosePoint(item); });
  connect(chart_, &DrawingView::itemActivated, this, [this](int item) { compare(item); });
  const auto at = [this](const QModelIndex& index) {
    return index.isValid() ? std::optional(values_->filter().mapToSource(index).row()) : std::nullopt;
  };
  connect(values_->view().selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this, at](const QModelIndex& index) {
            if (index.isValid()) choosePoint(at(index));  // else the filter hides the point, which stays chosen
          });
  connect(&values_->view(), &QAbstractItemView::doubleClicked, this,
          [this, at](const QModelIndex& index) { compare(at(index)); });
  for (const int key : {Qt::Key_Return, Qt::Key_Enter}) {
    auto* enter = new QShortcut(QKeySequence(key), &values_->view());
    enter->setContext(Qt::WidgetShortcut);
    connect(enter, &QShortcut::activated, this, [this] { compare(point()); });
  }
  connect(compare_, &QPushButton::clicked, this, [this] { compare(point()); });
  // While the pane is hidden nothing else tells it.
  connect(&document(), &Document::planChanged, &calculating_, &Background::cancel);
  connect(&calculating_, &Background::busyChanged, this, [this] {
    calculate_->setText(calculating_.busy() ? tr("Cancel") : tr("Calculate"));
    bar_->setVisible(calculating_.busy());
    compare_->setEnabled(hasPlan(point()) && !calculating_.busy());
  });
  connect(&calculating_, &Background::progress, this, [this](const QString& stage, int done, int total) {
    bar_->setRange(0, total);
    bar_->setValue(done);
    bar_->setFormat(total > 0 ? tr("%1 (%2 of %3)").arg(stage).arg(done + 1).arg(total) : stage);
  });
  connect(&calculating_, &Background::fault, this, &SensitivityPane::message);
}

QWidget& SensitivityPane::mainView() {
  if (!curve()) return *key_;
  return *chart_;
}

void SensitivityPane::refresh(unsigned changes) {
  if ((changes & look_changed) != 0) fitText();
  if ((changes & plan_changed) != 0) {
    showPlan();
  } else if ((changes & look_changed) != 0) {
    chart_->rebuild();
  }
}

void SensitivityPane::fitText() {
  words_->setFont(look().textFont());
  const int most = look().characters(9);
  for (QLineEdit* field : {from_, to_}) field->setMinimumWidth(most);
  amount_->setMinimumWidth(look().characters(5));
  chart_->setMinimumHeight(look().lines(8));
  tabs_->setMinimumHeight(look().lines(6));
}

void SensitivityPane::showPlan() {
  const auto same = [this](const Asked& asked) { return plan() != nullptr && asked.plan.lock() == plan(); };
  const auto known = std::find_if(kept_.begin(), kept_.end(), same);
  shown_ = known != kept_.end() ? *known : Asked();
  const QString before = known != kept_.end() ? qt(known->key) : key_->currentText();
  {
    const QSignalBlocker blocker(key_);
    key_->clear();
    if (plan()) {
      for (const auto& [key, value] : curve_keys(plan()->program().target)) key_->addItem(qt(key));
    }
    const int found = key_->findText(before);
    key_->setCurrentIndex(found >= 0 ? found : std::max(0, key_->findText(QString::fromLatin1(usual_key))));
  }
  for (QWidget* part : std::initializer_list<QWidget*>{key_, from_, to_, by_, amount_, calculate_})
    part->setEnabled(plan() != nullptr);
  showRange();
  if (known != kept_.end()) setRange(known->range);
  showCurve();
}

void SensitivityPane::showRange() {
  if (!plan()) return setRange({});
  const std::string key = key_->currentText().toStdString();
  setRange(usual_range(*plan(), key));
  const auto keys = curve_keys(plan()->program().target);
  const auto own = keys.find(key);
  key_->setToolTip(own != keys.end()
                       ? format("The value of the target that is changed; the plan has {} = {:.10g}", key, own->second)
                       : QString());
}

void SensitivityPane::setRange(const RangeText& range) {
  const bool is_factor = range.step.empty();
  from_->setText(qt(range.from));
  to_->setText(qt(range.to));
  by_->setCurrentIndex(is_factor ? 0 : 1);
  amount_->setText(qt(is_factor ? range.factor : range.step));
}

RangeText SensitivityPane::range() const {
  const std::string amount = amount_->text().trimmed().toStdString();
  const bool is_factor = by_->currentIndex() == 0;
  return {from_->text().trimmed().toStdString(), to_->text().trimmed().toStdString(), is_factor ? "" : amount,
          is_factor ? amount : ""};
}

void SensitivityPane::start(Background::Work work) {
  bar_->setRange(0, 0);
  bar_->setFormat(QString());
  calculating_.start(std::move(work));
}

void SensitivityPane::calculate() {
  if (!plan()) return;
  start([this, plan = plan(), key = key_->currentText().toStdString(), range = range()](
            const std::stop_token& stop, const ProgressSink& progress) -> Background::Deliver {
    AskedCurve asked = ask_curve(*plan, key, range, stop, progress);
    if (stop.stop_requested()) return {};
    return [this, made = Asked{plan, key, range, std::move(asked)}] { take(made); };
  });
}

void SensitivityPane::take(Asked asked) {
  if (asked.asked.curve) keep(asked);
  // A hidden pane has no plan; when it is shown it finds what was kept.
  if (!plan() || asked.plan.lock() != plan()) return;
  shown_ = std::move(asked);
  showCurve();
}

void SensitivityPane::keep(const Asked& asked) {
  const auto plan = asked.plan.lock();
  std::erase_if(kept_, [&](const Asked& each) { return each.plan.expired() || each.plan.lock() == plan; });
  if (kept_.size() == most_kept) kept_.erase(kept_.begin());
  kept_.push_back(asked);
}

void SensitivityPane::showCurve() {
  QStringList lines;
  if (!shown_.asked.told.empty()) lines.push_back(qt(shown_.asked.told));
  if (curve()) {
    for (const std::string& line : knee_lines(*curve())) lines.push_back(qt(line));
    for (const std::string& line : refusal_lines(*curve())) lines.push_back(qt(line));
  }
  words_->setPlainText(lines.join(QLatin1Char('\n')));
  values_->setTable(curve() ? std::make_shared<const Table>(values_table(*curve())) : nullptr, 1);
  tabs_->setCurrentWidget(words_);
  choosePoint(std::nullopt);
  chart_->rebuild();
}

bool SensitivityPane::hasPlan(std::optional<int> point) const {
  return plan() != nullptr && curve() && point &&
         curve()->points.at(static_cast<std::size_t>(*point)).numbers.has_value();
}

void SensitivityPane::choosePoint(std::optional<int> point) {
  chart_->setItem(point);
  compare_->setEnabled(hasPlan(point) && !calculating_.busy());
  if (!point) return;
  const QModelIndex row = values_->filter().mapFromSource(values_->model().index(*point, 0));
  if (row.isValid() && values_->view().currentIndex().row() == row.row()) return;
  values_->view().setCurrentIndex(row);
}

void SensitivityPane::compare(std::optional<int> point) {
  if (!hasPlan(point) || calculating_.busy()) return;  // a curve on its way is not given up for this
  const SweptValue value = curve()->points[static_cast<std::size_t>(*point)].value;
  const std::string words = fmt::format("{} = {}", value.key, value_words(value, curve()->in_bytes));
  start([this, plan = plan(), value, words](const std::stop_token& stop,
                                            const ProgressSink& progress) -> Background::Deliver {
    const PlanAtValue made = plan_at(*plan, value, stop, progress);
    if (stop.stop_requested()) return {};
    return [this, made, words] {
      if (!made.plan) {
        Q_EMIT message(qt(made.told));
        return;
      }
      document().keep(qt(words), made.plan);
      document().showBaseline(made.plan);
      Q_EMIT message(format("{} is the baseline now: Compare has the difference", words));
    };
  });
}

Drawing SensitivityPane::picture(QSizeF room, bool titled) const {
  if (curve() && curve()->has_plan()) {
    drawing::Sheet sheet = sheet_of(look(), room);
    sheet.titled = titled;
    return drawn(curve_chart(*curve(), sheet), look());
  }
  Drawing drawing;
  const QString hint = !plan()   ? tr("Nothing is open.")
                       : curve() ? tr("There is no plan for any of these values.")
                                 : tr("Calculate compiles the network anew for every value, with everything else as it "
                                      "is, and draws what it takes.");
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
  constexpr double above = 4;
  double y = above;
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
  const QSizeF upper = picture({room.width(), room.height() / 2}, true).size;
  return {upper.width(), upper.height() + wordsDrawing(upper.width()).size.height()};
}

void SensitivityPane::draw(QPainter& painter, QSizeF size) {
  const Drawing lower = wordsDrawing(size.width());
  const Drawing upper = picture({size.width(), size.height() - lower.size.height()}, true);
  paint(painter, upper);
  painter.translate(0, upper.size.height());
  paint(painter, lower);
}

}  // namespace stowage::inspector
