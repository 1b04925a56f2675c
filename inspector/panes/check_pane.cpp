// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/check_pane.h"

#include <QFileDialog>
#include <QFontMetricsF>
#include <QHBoxLayout>
#include <QVBoxLayout>
#include <algorithm>

#include "core/index.h"
#include "core/target.h"
#include "driver/exercises/exercises.h"
#include "inspector/draw/wrapped_text.h"
#include "inspector/look/wheel_guard.h"

namespace stowage::inspector {

CheckPane::CheckPane(const PaneContext& context)
    : Pane(context),
      nests_(new QComboBox(this)),
      targets_(new QComboBox(this)),
      title_(new QLabel(this)),
      back_(new QToolButton(this)),
      split_(new QSplitter(Qt::Horizontal, this)),
      code_(new CodeView(look(), this)),
      exercise_(makeSheet()),
      list_(new QTreeWidget(this)),
      details_(new QPlainTextEdit(this)) {
  nests_->setAccessibleName(tr("Nest"));
  guard_wheel(nests_);
  targets_->setAccessibleName(tr("Target"));
  targets_->setToolTip(tr("The target that the nest is checked for: its LDM and alignment"));
  guard_wheel(targets_);
  title_->setTextFormat(Qt::PlainText);
  title_->setMinimumWidth(40);
  title_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  back_->setText(tr("Back to the plan"));
  back_->setToolTip(tr("Check the chosen group of the plan that is open"));
  code_->setAccessibleName(tr("Checked nest"));
  list_->setHeaderLabels({tr("fault"), tr("family"), tr("what"), tr("where"), tr("collides with")});
  list_->setRootIsDecorated(false);
  list_->setUniformRowHeights(true);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setAccessibleName(tr("Faults"));
  details_->setReadOnly(true);
  details_->setFrameShape(QFrame::NoFrame);
  details_->setAccessibleName(tr("Counter-example"));
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(8, 3, 8, 3);
  bar->addWidget(nests_);
  bar->addWidget(title_, 1);
  bar->addWidget(targets_);
  bar->addWidget(back_);
  auto* found = new QSplitter(Qt::Vertical, this);
  found->addWidget(exercise_);
  found->addWidget(list_);
  found->addWidget(details_);
  split_->setChildrenCollapsible(false);
  split_->addWidget(code_);
  split_->addWidget(found);
  split_->setStretchFactor(0, 3);
  split_->setStretchFactor(1, 2);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(bar);
  layout->addWidget(split_, 1);
  connect(&document(), &Document::checkedChanged, this, [this] {
    if (isVisible()) flush();
    find();
  });
  connect(code_, &CodeView::chosen, this, &CheckPane::choose);
  connect(list_, &QTreeWidget::currentItemChanged, this,
          [this](QTreeWidgetItem* item) { showFault(list_->indexOfTopLevelItem(item)); });
  connect(nests_, &QComboBox::currentIndexChanged, this, [this](int index) {
    if (file_ && index >= 0) show(&file_->nests[static_cast<std::size_t>(index)]);
  });
  connect(targets_, &QComboBox::activated, this, &CheckPane::chooseTarget);
  connect(back_, &QToolButton::clicked, &document(), &Document::closeChecked);
  connect(&checking_, &Background::fault, this, &Pane::message);
}

QWidget* CheckPane::makeSheet() {
  auto* panel = new QWidget(this);
  sheet_ = new QPlainTextEdit(panel);
  family_ = new QComboBox(panel);
  statement_ = new QSpinBox(panel);
  answer_ = new QPushButton(tr("&Answer"), panel);
  solution_ = new QPushButton(tr("&Show the solution"), panel);
  reply_ = new QLabel(panel);
  sheet_->setReadOnly(true);
  sheet_->setFrameShape(QFrame::NoFrame);
  sheet_->setAccessibleName(tr("Sheet"));
  family_->setAccessibleName(tr("Family of the fault"));
  for (int f = 0; f <= static_cast<int>(FaultFamily::incomplete); ++f)
    family_->addItem(qt(name_of(static_cast<FaultFamily>(f))));
  family_->setPlaceholderText(tr("family"));
  statement_->setAccessibleName(tr("Statement at which it shows"));
  statement_->setRange(-1, 99999);
  statement_->setSpecialValueText(tr("none"));
  statement_->setToolTip(tr("The number of a statement, or a click on its line; none where no statement is concerned"));
  guard_wheel(family_);
  guard_wheel(statement_);
  reply_->setTextFormat(Qt::PlainText);
  reply_->setWordWrap(true);
  auto* row = new QHBoxLayout;
  auto* label = new QLabel(tr("at statement"), panel);
  for (QWidget* widget : std::initializer_list<QWidget*>{family_, label, statement_, answer_, solution_})
    row->addWidget(widget);
  row->addStretch(1);
  auto* layout = new QVBoxLayout(panel);
  layout->setContentsMargins(8, 3, 8, 3);
  layout->addWidget(sheet_, 1);
  layout->addLayout(row);
  layout->addWidget(reply_);
  connect(answer_, &QPushButton::clicked, this, &CheckPane::judge);
  connect(solution_, &QPushButton::clicked, this, [this] {
    solved_.insert(nests_->currentIndex());
    reply_->clear();
    showFaults();
  });
  return panel;
}

void CheckPane::resizeEvent(QResizeEvent* event) {
  Pane::resizeEvent(event);
  // Side by side needs room for a nest and what is said of it; in less the faults stand below.
  constexpr int ems_side_by_side = 120;
  const bool wide = width() > ems_side_by_side * QFontMetrics(look().codeFont()).horizontalAdvance(QLatin1Char('m'));
  split_->setOrientation(wide ? Qt::Horizontal : Qt::Vertical);
}

void CheckPane::refresh(unsigned changes) {
  if ((changes & look_changed) != 0) details_->setFont(look().codeFont());
  if (file_ || document().checked() || plan() != shown_plan_ || subject().step != shown_step_) find();
  if ((changes & look_changed) != 0) showFaults();
  if (!file_ && (changes & selection_changed) != 0 && subject().statement != lit_.statement) {
    // Another pane has chosen: what the fault collides with is no longer lit.
    lit_ = subject();
    lit_other_ = {};
    light();
  }
}

void CheckPane::find() {
  if (const CheckedPtr& file = document().checked()) {
    if (file == file_) return;
    checking_.cancel();
    of_plan_.reset();
    shown_plan_.reset();
    solved_.clear();
    file_ = file;
    const QSignalBlocker quiet(nests_);
    nests_->clear();
    for (const FileNest& nest : file_->nests)
      nests_->addItem(nest.exercise > 0 ? tr("exercise %1").arg(nest.exercise) : qt(nest.checked.name));
    const auto bad = std::find_if(file_->nests.begin(), file_->nests.end(),
                                  [](const FileNest& nest) { return !nest.checked.is_good(); });
    nests_->setCurrentIndex(bad == file_->nests.end() ? 0 : static_cast<int>(bad - file_->nests.begin()));
    return show(&file_->nests[static_cast<std::size_t>(nests_->currentIndex())]);
  }
  if (!file_ && plan() == shown_plan_ && subject().step == shown_step_) return;
  file_.reset();
  of_plan_.reset();
  checking_.cancel();
  shown_plan_ = plan();
  shown_step_ = subject().step;
  const StepFacts* const group = step();
  if (group == nullptr || group->plan == nullptr) return show(nullptr);
  checking_.start([this, plan = shown_plan_, step = shown_step_](const std::stop_token&,
                                                                 const ProgressSink&) -> Background::Deliver {
    const StepFacts& facts = *plan->step(step);
    auto made = std::make_shared<FileNest>();
    made->checked = checked(facts.step->group.name, facts.plan->nest, {}, plan->program().target);
    made->text = facts.text.text;
    return [this, made] {
      of_plan_ = made;
      show(of_plan_.get());
    };
  });
  show(nullptr);
}

void CheckPane::showTargets() {
  const bool is_open = file_ && !file_->target.empty();
  targets_->setVisible(is_open);
  targets_->clear();
  if (!is_open) return;
  for (const std::string& name : built_in_targets()) targets_->addItem(qt(name));
  const QString target = qt(file_->target);
  if (targets_->findText(target) < 0) targets_->addItem(target);
  targets_->addItem(tr("A target's file …"));
  targets_->setCurrentIndex(targets_->findText(target));
}

void CheckPane::chooseTarget(int index) {
  if (index + 1 < targets_->count()) return checkFor(targets_->itemText(index));
  const QString path = QFileDialog::getOpenFileName(this, tr("Target to check for"), {}, tr("Targets (*.toml)"));
  if (!path.isEmpty()) return checkFor(path);
  showTargets();
}

void CheckPane::checkFor(const QString& target) {
  if (!file_ || file_->target.empty() || target == qt(file_->target)) return;
  checking_.start([this, path = file_->path, name = target.toStdString()](const std::stop_token& stop,
                                                                          const ProgressSink&) -> Background::Deliver {
    auto diagnostics = std::make_shared<Diagnostics>();
    const CheckedPtr made = check_file(path, *diagnostics, stop, name);
    return [this, made, diagnostics] {
      if (made) return document().showChecked(made);
      Q_EMIT Pane::message(qt(format_diagnostics(*diagnostics)).trimmed());
      showTargets();
    };
  });
}

bool CheckPane::hidesFaults() const {
  return shown_ != nullptr && shown_->exercise > 0 && !shown_->checked.is_good() &&
         !solved_.contains(nests_->currentIndex());
}

void CheckPane::show(const FileNest* nest) {
  shown_ = nest;
  lit_ = file_ ? Subject{} : subject();
  lit_other_ = {};
  showTargets();
  nests_->setVisible(file_ && file_->nests.size() > 1);
  back_->setVisible(file_ != nullptr && document().plan() != nullptr);
  exercise_->setVisible(nest != nullptr && nest->exercise > 0);
  reply_->clear();
  statement_->setValue(-1);
  family_->setCurrentIndex(-1);
  sheet_->setPlainText(nest != nullptr ? qt(nest->sheet) : QString());
  showFaults();
}

QString CheckPane::message() const {
  if (shown_ != nullptr) {
    return hidesFaults() ? tr("%1: one thing is wrong with it").arg(qt(shown_->checked.name))
                         : qt(verdict_text(shown_->checked)).trimmed();
  }
  if (!plan()) return tr("Nothing is open");
  if (step() == nullptr) return tr("Choose a group to have its nest checked");
  if (step()->plan == nullptr)
    return tr("%1 is %2").arg(qt(step()->step->group.name), qt(step()->step->kind().without_nest));
  return tr("Checking %1 …").arg(qt(step()->step->group.name));
}

std::optional<StepId> CheckPane::shownStep() const {
  if (!file_) return shown_step_;
  const int nest = nests_->currentIndex();
  return nest < 0 ? std::nullopt : std::optional(StepId(at(nest)));
}

void CheckPane::showFaults() {
  title_->setText(message());
  title_->setToolTip(title_->text());
  const std::vector<Fault> none;
  const bool hidden = hidesFaults();
  const std::vector<Fault>& faults = shown_ == nullptr || hidden ? none : shown_->checked.check.faults;
  const auto step = shownStep();
  code_->setCode(shown_ == nullptr ? CodeText() : checked_code(shown_->text, step, faults, theme()));
  for (QWidget* widget : std::initializer_list<QWidget*>{answer_, solution_, family_, statement_})
    widget->setEnabled(hidden);
  list_->clear();
  details_->clear();
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const FaultRow row = fault_row(faults, i);
    auto* item = new QTreeWidgetItem(list_, {row.number, row.family, row.what, row.where, row.other});
    item->setToolTip(2, row.what);
  }
  for (const int column : {0, 1, 3, 4}) list_->resizeColumnToContents(column);
  list_->setColumnWidth(2, look().characters(30));
  list_->setVisible(!hidden);
  details_->setVisible(!hidden);
  if (!faults.empty()) return list_->setCurrentItem(list_->topLevelItem(0));
  light();
}

void CheckPane::showFault(int row) {
  if (shown_ == nullptr || row < 0 || hidesFaults()) return details_->clear();
  const Fault& fault = shown_->checked.check.faults[static_cast<std::size_t>(row)];
  details_->setPlainText(qt(fault_text(shown_->checked, fault)));
  const auto step = shownStep();
  lit_ = fault.at ? statement_subject(step, fault.at->statement) : step_subject(step);
  lit_other_ = fault.other ? statement_subject(step, fault.other->statement) : Subject{};
  light();
  // In a plan all panes go there.
  if (!file_ && fault.at) selection().select(lit_);
}

void CheckPane::light() { code_->setLit(lit_, lit_other_); }

void CheckPane::choose(const Subject& chosen) {
  if (!file_) return selection().select(chosen);
  lit_ = chosen;
  lit_other_ = {};
  light();
  if (hidesFaults())
    statement_->setValue(chosen.statement ? static_cast<int>(chosen.statement->value) : statement_->minimum());
}

void CheckPane::judge() {
  if (!hidesFaults()) return;
  if (family_->currentIndex() < 0) return reply_->setText(tr("Choose the family of the fault first."));
  Answer answer;
  answer.family = static_cast<FaultFamily>(family_->currentIndex());
  if (statement_->value() >= 0) answer.statement = StatementId(at(statement_->value()));
  const Judgement judgement = judge_answer(answer, shown_->checked.check);
  if (!judgement.fault) return reply_->setText(qt(judgement.text).trimmed());
  solved_.insert(nests_->currentIndex());
  showFaults();
  reply_->setText(tr("Yes. What happens:"));
  list_->setCurrentItem(list_->topLevelItem(static_cast<int>(*judgement.fault)));
}

QSizeF CheckPane::exportSize(QSizeF room) {
  const QFontMetricsF metrics(look().codeFont());
  const CodeLayout layout = layout_of(code_->code(), look());
  double width = std::max(room.width(), layout.width);
  qsizetype lines = 3;
  for (const QString& text : {details(), sheet()}) {
    for (const QString& line : text.split(QLatin1Char('\n')))
      lines += wrapped(line, look().codeFont(), width - 32).size();
  }
  const double code = layout.header_height + layout.line_height * static_cast<double>(code_->code().lines.size());
  return {width, code + metrics.lineSpacing() * static_cast<double>(lines) + 48};
}

void CheckPane::draw(QPainter& painter, QSizeF size) {
  const QFontMetricsF metrics(look().codeFont());
  painter.setFont(look().codeFont());
  double y = 8;
  const auto write = [&](const QString& text) {
    painter.setFont(look().codeFont());
    painter.setPen(theme().text);
    for (const QString& line : text.split(QLatin1Char('\n'))) {
      for (const QString& part : wrapped(line, look().codeFont(), size.width() - 32)) {
        painter.drawText(QRectF(16, y, size.width() - 32, metrics.lineSpacing() + 2), Qt::AlignLeft | Qt::AlignTop,
                         part);
        y += metrics.lineSpacing();
      }
    }
  };
  write(title());
  y += 8;
  if (!code_->code().lines.empty()) {
    const CodeLayout layout = layout_of(code_->code(), look());
    painter.save();
    painter.translate(0, y);
    paint_code_header(painter, code_->code(), layout, look(), size.width());
    painter.translate(0, layout.header_height);
    paint_code(painter, code_->code(), layout, look(), 0, static_cast<int>(code_->code().lines.size()), lit_,
               lit_other_, size.width());
    painter.restore();
    y += layout.header_height + layout.line_height * static_cast<double>(code_->code().lines.size()) + 8;
  }
  if (shown_ != nullptr && shown_->exercise > 0) write(sheet());
  write(details());
}

}  // namespace stowage::inspector
