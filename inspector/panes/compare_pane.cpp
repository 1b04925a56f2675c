// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/compare_pane.h"

#include <QFileDialog>
#include <QFontMetricsF>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "driver/diff/model_error.h"
#include "inspector/compare/compare_tables.h"
#include "inspector/draw/wrapped_text.h"

namespace stowage::inspector {

ComparePane::ComparePane(const PaneContext& context)
    : Pane(context),
      baseline_(new QComboBox(this)),
      current_(new QComboBox(this)),
      swap_(new QToolButton(this)),
      open_(new QToolButton(this)),
      verdict_(new QLabel(this)),
      filter_(new FilterLine(this)),
      tabs_(new QTabWidget(this)),
      changes_(new TableView(look(), this)),
      totals_(new TableView(look(), this)),
      details_(new TableView(look(), this)),
      nest_before_(new CodeView(look(), this)),
      nest_after_(new CodeView(look(), this)) {
  for (QComboBox* box : {baseline_, current_}) {
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(10);
  }
  baseline_->setAccessibleName(tr("Baseline"));
  current_->setAccessibleName(tr("Current plan"));
  swap_->setText(QStringLiteral("⇄"));
  swap_->setToolTip(tr("Exchange baseline and current plan"));
  open_->setText(tr("Open baseline…"));
  open_->setToolTip(tr("A compiled folder to compare with"));
  verdict_->setWordWrap(true);
  verdict_->setTextFormat(Qt::PlainText);
  verdict_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  verdict_->setContentsMargins(8, 2, 8, 4);
  filter_->setPlaceholderText(tr("Filter"));
  filter_->setToolTip(tr("Groups that match a regular expression"));
  filter_->setAccessibleName(tr("Filter of the groups"));
  filter_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(6, 3, 6, 3);
  bar->setSpacing(6);
  bar->addWidget(new QLabel(tr("Baseline"), this));
  bar->addWidget(baseline_, 2);
  bar->addWidget(swap_);
  bar->addWidget(new QLabel(tr("Current"), this));
  bar->addWidget(current_, 2);
  bar->addWidget(open_);
  bar->addWidget(filter_, 1);
  auto* group = new QSplitter(Qt::Vertical, this);
  auto* nests = new QSplitter(Qt::Horizontal, group);
  nests->addWidget(nest_before_);
  nests->addWidget(nest_after_);
  group->addWidget(details_);
  group->addWidget(nests);
  group->setStretchFactor(0, 1);
  group->setStretchFactor(1, 2);
  nest_before_->setAccessibleName(tr("Loop nest of the baseline"));
  nest_after_->setAccessibleName(tr("Loop nest of the current plan"));
  tabs_->setDocumentMode(true);
  tabs_->addTab(changes_, tr("Groups"));
  tabs_->addTab(totals_, tr("Totals and target"));
  tabs_->addTab(group, tr("Selected group"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(bar);
  layout->addWidget(verdict_);
  layout->addWidget(tabs_, 1);
  connectParts();
  fillChoices();
}

void ComparePane::connectParts() {
  connect(&document(), &Document::baselineChanged, this, &ComparePane::fillChoices);
  connect(&document(), &Document::planChanged, this, &ComparePane::fillChoices);
  connect(&document(), &Document::keptChanged, this, &ComparePane::fillChoices);
  connect(changes_, &TableView::chosen, this, [this](const Subject& subject) {
    if (subject != Subject{}) selection().select(subject);
  });
  connect(nest_after_, &CodeView::chosen, &selection(), &Selection::select);
  connect(swap_, &QToolButton::clicked, this, &ComparePane::swap);
  connect(open_, &QToolButton::clicked, this, [this] {
    const QString path = QFileDialog::getExistingDirectory(this, tr("Compiled folder to compare with"));
    if (!path.isEmpty()) document().openBaseline({path, {}});
  });
  connect(baseline_, &QComboBox::activated, this, [this](int index) {
    if (index >= 0) document().showBaseline(choices()[static_cast<std::size_t>(index)].plan);
  });
  connect(current_, &QComboBox::activated, this, [this](int index) {
    if (index < 0) return;
    const PlanPtr chosen = choices()[static_cast<std::size_t>(index)].plan;
    if (chosen != document().plan()) document().show(chosen);
  });
  connect(filter_, &FilterLine::patternChanged, changes_, &TableView::setPattern);
  connect(filter_, &FilterLine::refused, this, &Pane::message);
  connect(filter_, &FilterLine::accepted, this, &Pane::messageOver);
}

QWidget& ComparePane::mainView() {
  if (tabs_->currentWidget() == changes_) return changes_->view();
  return tabs_->currentWidget() == totals_ ? totals_->view() : details_->view();
}

QLineEdit* ComparePane::searchLine() {
  tabs_->setCurrentWidget(changes_);
  return filter_;
}

std::vector<KeptPlan> ComparePane::choices() const {
  std::vector<KeptPlan> all = document().kept();
  const auto add = [&](const PlanPtr& plan) {
    const bool known = std::any_of(all.begin(), all.end(), [&](const KeptPlan& kept) { return kept.plan == plan; });
    if (plan && !known) all.push_back({qt(plan->origin), plan});
  };
  add(document().plan());
  add(document().baseline());
  return all;
}

void ComparePane::fillChoices() {
  const std::vector<KeptPlan> all = choices();
  const auto fill = [&](QComboBox* box, const PlanPtr& shown) {
    const QSignalBlocker blocker(box);
    box->clear();
    for (const KeptPlan& kept : all) {
      box->addItem(kept.name);
      if (kept.plan == shown) box->setCurrentIndex(box->count() - 1);
    }
    if (!shown) box->setCurrentIndex(-1);
    box->setToolTip(box->currentText());
  };
  fill(baseline_, document().baseline());
  fill(current_, document().plan());
  swap_->setEnabled(document().baseline() != nullptr && document().plan() != nullptr);
}

void ComparePane::swap() {
  const PlanPtr baseline = document().baseline();
  const PlanPtr current = document().plan();
  if (!baseline || !current) return;
  // Both are kept while they change places, so that names stay.
  document().showBaseline(current);
  document().show(baseline);
}

void ComparePane::refresh(unsigned changes) {
  const PlanDiff* diff = comparison() != nullptr ? &comparison()->diff : nullptr;
  if ((changes & (plan_changed | comparison_changed | look_changed)) != 0) {
    const double clock = plan() ? plan()->program().target.clock_hz : 1;
    QString words = diff != nullptr ? qt(verdict(*diff, "the baseline", "the current plan")) : QString();
    if (!words.isEmpty()) words[0] = words[0].toUpper();
    if (diff != nullptr) {
      const std::string error = difference_error_text(*diff, "the baseline", "the current plan");
      if (!error.empty()) words += QStringLiteral(".\n") + qt(error);
    }
    verdict_->setText(diff != nullptr          ? words
                      : document().comparing() ? tr("Comparing…")
                      : plan() ? tr("Choose a baseline: another folder, a snapshot, or what an edit was planned from.")
                               : tr("Nothing is open."));
    verdict_->setFont(look().titleFont());
    setMinimumSize(look().characters(44), look().lines(9));  // in less its parts would be of no use
    changes_->setTable(diff != nullptr ? std::make_shared<const Table>(changes_table(*diff)) : nullptr, clock);
    totals_->setTable(diff != nullptr ? std::make_shared<const Table>(totals_table(*diff)) : nullptr, clock);
  }
  if ((changes & (plan_changed | comparison_changed | look_changed | selection_changed)) != 0) showGroup();
}

void ComparePane::showGroup() {
  changes_->setChosen(subject());
  const PlanComparison* both = comparison();
  const GroupChange* change = both != nullptr ? both->change_of(subject().step) : nullptr;
  if (change == nullptr || change->before.empty()) {
    details_->setTable(nullptr, 1);
    nest_before_->setCode({});
    nest_after_->setCode({});
    return;
  }
  details_->setTable(
      std::make_shared<const Table>(details_table(*change, *both->baseline, *both->current, look().units())), 1);
  auto [before, after] =
      compared_nests(*both->baseline, change->before.front().step, *both->current, subject().step, look());
  nest_before_->setCode(std::move(before));
  nest_after_->setCode(std::move(after));
  nest_after_->setLit(subject(), {});
}

QSizeF ComparePane::exportSize(QSizeF room) {
  const QSizeF totals = totals_->drawing().size;
  const QSizeF changes = changes_->drawing().size;
  const double width = std::max({room.width(), totals.width(), changes.width()});
  const double line = QFontMetricsF(look().titleFont()).height() + 2;
  const double lines = static_cast<double>(wrapped(verdict_->text(), look().titleFont(), width - 32).size());
  return {width, 24 + line * lines + totals.height() + changes.height()};
}

void ComparePane::draw(QPainter& painter, QSizeF size) {
  Drawing title;
  const double line = QFontMetricsF(look().titleFont()).height() + 2;
  double y = 12;
  for (const QString& text : wrapped(verdict_->text(), look().titleFont(), size.width() - 32)) {
    title.text({16, y, size.width() - 32, line}, text, theme().text, look().titleFont());
    y += line;
  }
  paint(painter, title);
  painter.translate(0, y + 6);
  const Drawing totals = totals_->drawing();
  paint(painter, totals);
  painter.translate(0, totals.size.height());
  paint(painter, changes_->drawing());
}

}  // namespace stowage::inspector
