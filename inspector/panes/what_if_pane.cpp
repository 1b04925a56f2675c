// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/what_if_pane.h"

#include <QAction>
#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QMenu>
#include <QResizeEvent>
#include <QScrollArea>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

#include "inspector/ldm/ldm_map.h"
#include "inspector/state/files.h"
#include "inspector/whatif/edit_words.h"
#include "inspector/whatif/job_form.h"
#include "inspector/whatif/result_drawing.h"

namespace stowage::inspector {

namespace {

QString stale_text(Staleness staleness) {
  switch (staleness) {
    case Staleness::none: break;
    case Staleness::without_edits:
      return WhatIfPane::tr(
          "⚠ Stale: the other panes show the plan without these edits. Plan network brings them up to date.");
    case Staleness::discarded_edits:
      return WhatIfPane::tr(
          "⚠ Stale: the other panes show the plan with edits that are discarded here. Plan network shows it as "
          "opened.");
    case Staleness::other_edits:
      return WhatIfPane::tr(
          "⚠ Stale: the other panes show the plan with other edits than these. Plan network brings them up to date.");
  }
  return {};
}

constexpr std::array stale_kinds = {Staleness::without_edits, Staleness::discarded_edits, Staleness::other_edits};

/// Beside the result the form is seen in its whole width, as far as the result keeps some.
void fit_form(QSplitter& split, const QWidget& form) {
  QWidget& area = *split.widget(0);
  const int needed = form.minimumSizeHint().width() + area.style()->pixelMetric(QStyle::PM_ScrollBarExtent) + 2;
  area.setMinimumWidth(split.orientation() == Qt::Horizontal ? std::min(needed, split.width() * 3 / 5) : 0);
}

}  // namespace

WhatIfPane::WhatIfPane(const PaneContext& context)
    : Pane(context),
      session_(document(), selection(), this),
      status_(new QLabel(this)),
      edits_(new QLabel(this)),
      plan_network_(new QToolButton(this)),
      cancel_(new QToolButton(this)),
      progress_(new QProgressBar(this)),
      split_(new QSplitter(Qt::Horizontal, this)),
      controls_(new WhatIfControls(session_, look(), this)),
      tabs_(new QTabWidget(this)),
      result_(new DrawingView(look(), this)),
      ldm_(new DrawingView(look(), this)),
      nest_(new CodeView(look(), this)) {
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(6, 3, 6, 3);
  makeBar(bar);
  auto* scroll = new QScrollArea(this);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidget(controls_);
  tabs_->setDocumentMode(true);
  tabs_->addTab(result_, tr("Result"));
  tabs_->addTab(ldm_, tr("LDM map"));
  tabs_->addTab(nest_, tr("Loop nest"));
  result_->setAccessibleName(tr("Result of the edit"));
  ldm_->setAccessibleName(tr("LDM map of the edited group"));
  nest_->setAccessibleName(tr("Loop nest of the edited group"));
  split_->addWidget(scroll);
  split_->addWidget(tabs_);
  split_->setStretchFactor(0, 2);
  split_->setStretchFactor(1, 3);
  split_->setChildrenCollapsible(false);
  status_->setWordWrap(true);
  status_->setContentsMargins(8, 0, 8, 3);
  edits_->setObjectName(QStringLiteral("edits"));
  edits_->setAccessibleName(tr("What is edited"));
  edits_->setTextFormat(Qt::RichText);
  edits_->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  edits_->setContentsMargins(8, 0, 8, 3);
  // One line, whatever it says: what does not fit is counted.
  edits_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  connect(edits_, &QLabel::linkActivated, this, &WhatIfPane::goTo);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(bar);
  layout->addWidget(status_);
  layout->addWidget(edits_);
  layout->addWidget(split_, 1);

  result_->setBuilder([this](QSizeF room) { return result_drawing(input(), look(), room); });
  ldm_->setBuilder([this](QSizeF room) {
    return session_.legal() != nullptr ? ldm_map(*session_.legal()->result, session_.legal()->shown, look(), room)
                                       : Drawing();
  });
  connect(&session_, &WhatIfSession::changed, this, &WhatIfPane::showState);
  connect(&session_, &WhatIfSession::planningChanged, this, &WhatIfPane::showState);
  connect(&session_, &WhatIfSession::evaluated, this, &WhatIfPane::showState);
  connect(&controls_->groups(), &GroupsList::refused, this, &WhatIfPane::message);
  connect(&writing_, &Background::fault, this, &WhatIfPane::message);
  connect(&session_, &WhatIfSession::failed, this, [this](const QString& sentence) {
    status_->setText(sentence);
    Q_EMIT message(sentence);
  });
  connect(&session_, &WhatIfSession::planningProgress, this, [this](const QString& stage, int done, int total) {
    progress_->setRange(0, std::max(total, 0));
    progress_->setValue(done);
    progress_->setFormat(stage);
  });
}

void WhatIfPane::makeBar(QHBoxLayout* bar) {
  const auto button = [&](QAction* action) {
    auto* made = new QToolButton(this);
    made->setDefaultAction(action);
    bar->addWidget(made);
    return made;
  };
  const auto history_action = [&](QAction* action, const QKeySequence& keys) {
    action->setShortcut(keys);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    addAction(action);
    auto* made = button(action);
    // The name of what is undone may be long; the button says only the word, the tooltip all of it.
    const QString word = action->text();
    connect(action, &QAction::changed, made, [made, action, word] {
      made->setText(word);
      made->setToolTip(QStringLiteral("%1 (%2)").arg(action->text(), action->shortcut().toString()));
    });
    made->setText(word);
  };
  history_action(session_.history().createUndoAction(this, tr("Undo")), QKeySequence::Undo);
  history_action(session_.history().createRedoAction(this, tr("Redo")), QKeySequence::Redo);
  auto* reset = new QAction(tr("Discard edits"), this);
  reset->setToolTip(tr("Drop all edits of all groups and of the target (can be undone)"));
  connect(reset, &QAction::triggered, this, [this] { session_.change({}, tr("discard edits")); });
  button(reset);
  auto* snapshots = new QToolButton(this);
  snapshots->setText(tr("Snapshots"));
  makeSnapshotMenu(snapshots);
  auto* toml = new QToolButton(this);
  toml->setText(tr("TOML"));
  toml->setToolTip(tr("The edits in the form that the command line reads"));
  makeTomlMenu(toml);
  for (QToolButton* menu : {snapshots, toml}) {
    menu->setPopupMode(QToolButton::InstantPopup);
    bar->addWidget(menu);
  }
  bar->addStretch();
  cancel_->setText(tr("Cancel"));
  plan_network_->setText(tr("Plan network"));
  plan_network_->setObjectName(QStringLiteral("plan_network"));
  plan_network_->setToolTip(
      tr("Plan the whole network with these edits and show it in all panes, what was opened as its "
         "baseline"));
  bar->addWidget(progress_);
  bar->addWidget(cancel_);
  bar->addWidget(plan_network_);
  connect(plan_network_, &QToolButton::clicked, &session_, &WhatIfSession::planNetwork);
  connect(cancel_, &QToolButton::clicked, &session_, &WhatIfSession::cancelPlanning);
}

void WhatIfPane::makeTomlMenu(QToolButton* button) {
  auto* menu = new QMenu(button);
  menu->addAction(tr("Copy for compile --schedule"), this, [this] { copyToml(false); });
  menu->addAction(tr("Copy as a batch file's job"), this, [this] { copyToml(true); });
  menu->addAction(tr("Save for compile --schedule…"), this, [this] { askAndSave(false, edits()); });
  menu->addAction(tr("Save as a batch file…"), this, [this] { askAndSave(true, edits()); });
  button->setMenu(menu);
}

void WhatIfPane::makeSnapshotMenu(QToolButton* button) {
  auto* menu = new QMenu(button);
  connect(menu, &QMenu::aboutToShow, this, [this, menu] {
    menu->clear();
    menu->addAction(tr("Take a snapshot…"), this, [this] {
      bool accepted = false;
      const QString name = QInputDialog::getText(this, tr("Snapshot"), tr("Name:"), QLineEdit::Normal,
                                                 tr("snapshot %1").arg(session_.snapshots().size() + 1), &accepted);
      if (accepted && !name.isEmpty()) session_.takeSnapshot(name);
    });
    menu->addSeparator();
    for (std::size_t i = 0; i < session_.snapshots().size(); ++i) {
      menu->addAction(tr("Back to %1").arg(session_.snapshots()[i].name), this,
                      [this, i] { session_.restoreSnapshot(i); });
    }
  });
  button->setMenu(menu);
}

void WhatIfPane::withToml(bool batch, const QString& file, const WhatIfSession::Unsaved& what,
                          std::function<Background::Deliver(const std::string&)> then) {
  if (!what.plan) return;
  writing_.start([plan = what.plan, edit = what.edit, batch, name = file.toStdString(), then = std::move(then)](
                     const std::stop_token& stop, const ProgressSink&) -> Background::Deliver {
    const auto complete = complete_edit(plan, edit, stop);
    if (!complete) return {};
    const JobForm job = job_form(*plan, *complete);
    return then(batch ? batch_file(*complete, job) : schedule_file(*complete, job, name));
  });
}

void WhatIfPane::copyToml(bool batch) {
  withToml(batch, QStringLiteral("THIS"), edits(), [this](const std::string& text) -> Background::Deliver {
    return [this, text] {
      QGuiApplication::clipboard()->setText(qt(text));
      Q_EMIT message(tr("Copied the edits as TOML"));
    };
  });
}

void WhatIfPane::saveToml(const QString& path, bool batch) { write(path, batch, edits(), {}); }

void WhatIfPane::write(const QString& path, bool batch, const WhatIfSession::Unsaved& what,
                       std::function<void()> then) {
  withToml(batch, path, what,
           [this, path, what, then = std::move(then)](const std::string& text) -> Background::Deliver {
             const QString problem = write_file(path, QByteArray::fromStdString(text));
             return [this, path, problem, what, then] {
               if (problem.isEmpty()) session_.markSaved(what.plan, what.edit);
               Q_EMIT message(problem.isEmpty() ? tr("Saved %1").arg(path) : problem);
               if (problem.isEmpty() && then) then();
             };
           });
}

void WhatIfPane::askAndSave(bool batch, const WhatIfSession::Unsaved& what, std::function<void()> then) {
  auto* dialog = new QFileDialog(this, tr("Save the edits"), QString(), tr("TOML files (*.toml)"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setDefaultSuffix(QStringLiteral("toml"));
  dialog->selectFile(QStringLiteral("what-if.toml"));
  connect(dialog, &QFileDialog::fileSelected, this,
          [this, batch, what, then = std::move(then)](const QString& path) { write(path, batch, what, then); });
  dialog->open();
}

QString WhatIfPane::unsaved() const {
  const auto what = session_.unsaved();
  return what ? qt(edits_text(*what->plan, what->edit)) : QString();
}

void WhatIfPane::save(std::function<void()> then) {
  if (const auto what = session_.unsaved()) {
    askAndSave(false, *what, std::move(then));
  } else {
    then();
  }
}

void WhatIfPane::showEdits() {
  QStringList details;
  QStringList links;
  std::vector<int> widths;
  const QFontMetrics metrics = edits_->fontMetrics();
  const QString between = QStringLiteral(" · ");
  const std::vector<EditEntry> entries =
      session_.base() ? edit_entries(*session_.base(), session_.edit()) : std::vector<EditEntry>();
  for (const EditEntry& entry : entries) {
    details.push_back(qt(entry.details));
    const QString name = qt(entry.name).toHtmlEscaped();
    links.push_back(entry.op ? QStringLiteral("<a href=\"%1\" style=\"color:%2\">%3</a>")
                                   .arg(entry.op->index())
                                   .arg(theme().accent.name(), name)
                             : name);
    widths.push_back(metrics.horizontalAdvance(qt(entry.name) + between));
  }
  edits_->setToolTip(
      details.join(QLatin1Char('\n')).toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>")));
  if (links.isEmpty()) return edits_->setText(session_.base() ? tr("There are no edits.") : QString());
  // As many as there is room for; the tooltip has all.
  const int room = edits_->width() - edits_->contentsMargins().left() - edits_->contentsMargins().right() -
                   metrics.horizontalAdvance(tr("Edited: "));
  int used = 0;
  qsizetype fitting = 0;
  const auto all = links.size();
  while (fitting < all && used + widths[static_cast<std::size_t>(fitting)] <= room) {
    used += widths[static_cast<std::size_t>(fitting++)];
  }
  const auto more = [&] { return tr("and %1 more").arg(all - fitting); };
  while (fitting > 0 && fitting < all && used + metrics.horizontalAdvance(more()) > room) {
    used -= widths[static_cast<std::size_t>(--fitting)];
  }
  QString text = links.mid(0, fitting).join(between);
  if (fitting < all) text += fitting > 0 ? between + more() : tr("%1 edits, more than there is room for").arg(all);
  edits_->setText(tr("Edited: %1").arg(text));
}

void WhatIfPane::goTo(const QString& op) {
  const PlanPtr shown = document().plan();
  if (!shown || !session_.base()) return;
  const Operator& wanted = session_.base()->graph().op(OpId(op.toULongLong()));
  const auto found = shown->graph().find_operator(wanted.name);
  if (!found) return;
  const StepId step = shown->step_of_operator[*found];
  const bool whole = shown->step(step) != nullptr && shown->step(step)->step->group.name == wanted.name;
  selection().select(whole ? step_subject(step) : op_subject(step, *found));
}

ResultInput WhatIfPane::input() const {
  ResultInput input;
  if (!session_.step()) return input;
  input.base = session_.base().get();
  input.step = session_.step();
  input.legal = session_.legal();
  input.latest = session_.latest();
  input.pending = session_.pending();
  return input;
}

void WhatIfPane::showState() {
  if (inSight()) session_.priceGroups();
  const bool planning = session_.planning();
  progress_->setVisible(planning);
  cancel_->setVisible(planning);
  const bool refused = session_.latest() != nullptr && !session_.latest()->refusal.allowed;
  plan_network_->setEnabled(!planning && session_.base() != nullptr && session_.stale() && !refused);
  QString text;
  if (!session_.base()) {
    text = tr("Nothing is open.");
  } else if (!session_.step()) {
    text = tr("Choose a group with a loop nest to edit its plan.");
  } else if (planning) {
    text = tr("The network is being planned with the edits…");
  } else if (session_.stale()) {
    text = stale_text(session_.staleness());
  } else if (session_.edit().empty()) {
    text = tr("Nothing is edited yet. What is not fixed, the planner fills.");
  } else {
    text = tr("All panes show the network with these edits.");
  }
  reserveStatus();
  status_->setText(text);
  showEdits();
  controls_->refresh();
  fit_form(*split_, *controls_);
  showResult();
}

void WhatIfPane::showResult() {
  if (!isVisible()) return;
  result_->rebuild();
  ldm_->rebuild();
  nest_->setCode(session_.legal() != nullptr
                     ? nest_code(*session_.legal()->result, session_.legal()->shown, false, look())
                     : CodeText());
}

void WhatIfPane::refresh(unsigned changes) {
  if ((changes & look_changed) != 0) {
    setMinimumSize(look().characters(44), look().lines(9));  // in less its parts would be of no use
    progress_->setMaximumWidth(look().characters(20));
  }
  if ((changes & (plan_changed | selection_changed | look_changed | sight_changed)) != 0) showState();
}

void WhatIfPane::reserveStatus() {
  // As high as the longest of its sentences, so that what is below does not move under the pointer.
  const int room = width() - status_->contentsMargins().left() - status_->contentsMargins().right();
  int height = 0;
  for (const Staleness kind : stale_kinds) {
    const QRect box = status_->fontMetrics().boundingRect(QRect(0, 0, room, 1000), Qt::TextWordWrap, stale_text(kind));
    height = std::max(height, box.height());
  }
  status_->setMinimumHeight(height + status_->contentsMargins().bottom());
}

void WhatIfPane::resizeEvent(QResizeEvent* event) {
  Pane::resizeEvent(event);
  reserveStatus();
  layout()->activate();  // so that the line of edits has its width
  showEdits();
  split_->setOrientation(event->size().width() >= look().characters(100) ? Qt::Horizontal : Qt::Vertical);
  fit_form(*split_, *controls_);
}

QSizeF WhatIfPane::exportSize(QSizeF room) {
  const QSizeF upper = result_->build({room.width(), 0}).size;
  const QSizeF lower = ldm_->build({room.width(), room.height() / 2}).size;
  return {std::max(upper.width(), lower.width()), upper.height() + lower.height()};
}

void WhatIfPane::draw(QPainter& painter, QSizeF size) {
  const Drawing upper = result_->build({size.width(), 0});
  paint(painter, upper);
  painter.translate(0, upper.size.height());
  paint(painter, ldm_->build({size.width(), size.height() - upper.size.height()}));
}

}  // namespace stowage::inspector
