// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/replay_pane.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>

#include "inspector/panes/export.h"
#include "inspector/replay/algorithm_text.h"
#include "inspector/replay/lecture.h"
#include "inspector/replay/replay_picture.h"
#include "inspector/state/files.h"

namespace stowage::inspector {

namespace {

constexpr int play_milliseconds = 2500;

QPushButton* add_button(QHBoxLayout* row, const QString& text, const QString& tip, const std::function<void()>& act) {
  auto* button = new QPushButton(text);
  button->setToolTip(tip);
  button->setFocusPolicy(Qt::TabFocus);  // a click leaves the keys to the pane
  QObject::connect(button, &QPushButton::clicked, button, act);
  row->addWidget(button);
  return button;
}

}  // namespace

ReplayPane::ReplayPane(const PaneContext& context)
    : Pane(context),
      view_(new DrawingView(look(), this)),
      slider_(new QSlider(Qt::Horizontal, this)),
      where_(new QLabel(this)),
      play_(nullptr),
      decisions_(new QComboBox(this)) {
  setFocusPolicy(Qt::StrongFocus);
  view_->setFocusPolicy(Qt::NoFocus);
  slider_->setFocusPolicy(Qt::NoFocus);
  view_->setAccessibleName(tr("The step as a picture"));
  slider_->setAccessibleName(tr("Step"));
  slider_->setToolTip(tr("Left, Right: a step; Page Up, Page Down: a decision; Home, End; Space: play"));
  decisions_->setAccessibleName(tr("Jump to a decision"));
  decisions_->setToolTip(tr("Steps that accepted or refused something (Page Up, Page Down)"));
  decisions_->setFocusPolicy(Qt::TabFocus);
  decisions_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  decisions_->setMinimumContentsLength(14);

  auto* row = new QHBoxLayout;
  row->setContentsMargins(8, 6, 8, 2);
  row->setSpacing(6);
  add_button(row, tr("Back"), tr("The step before (Left)"), [this] { goTo(current_ == 0 ? 0 : current_ - 1); });
  play_ = add_button(row, tr("Play"), tr("A step every few seconds (Space)"), [this] { setPlaying(!playing()); });
  add_button(row, tr("Forward"), tr("The next step (Right)"), [this] { goTo(current_ + 1); });
  row->addWidget(slider_, 1);
  row->addWidget(where_);
  row->addWidget(decisions_, 1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(row);
  layout->addWidget(view_, 1);

  view_->setBuilder([this](QSizeF room) { return replay_picture(*replay_, current_, look(), room); });
  connect(slider_, &QSlider::valueChanged, this, [this](int value) { goTo(static_cast<std::size_t>(value)); });
  connect(decisions_, &QComboBox::activated, this, [this](int row_of_box) {
    const QVariant step = decisions_->itemData(row_of_box);
    if (step.isValid()) goTo(static_cast<std::size_t>(step.toInt()));
    decisions_->setCurrentIndex(0);
    setFocus();
  });
  clock_.setInterval(play_milliseconds);
  connect(&clock_, &QTimer::timeout, this, [this] {
    goTo(current_ + 1);
    if (current_ + 1 >= replay_->steps.size()) setPlaying(false);
  });
  connect(&work_, &Background::fault, this, &ReplayPane::message);
  replace({});
}

void ReplayPane::refresh(unsigned changes) {
  if ((changes & plan_changed) != 0 || subject().step != shown_step_) {
    load();
  } else if ((changes & look_changed) != 0) {
    view_->rebuild();
  }
}

void ReplayPane::load() {
  shown_step_ = subject().step;
  work_.cancel();
  if (!plan() || !shown_step_) return replace({});
  // What is kept is only put together; planning once more is work for another thread.
  if (keeps_steps(*plan(), shown_step_)) return replace(make_replay(*plan(), shown_step_));
  replace({});
  work_.start(
      [this, plan = plan(), step = shown_step_](const std::stop_token&, const ProgressSink&) -> Background::Deliver {
        auto made = std::make_shared<Replay>(make_replay(*plan, step));
        return [this, made] { replace(std::move(*made)); };
      });
}

void ReplayPane::replace(Replay replay) {
  setPlaying(false);
  replay_ = std::make_shared<const Replay>(std::move(replay));
  current_ = 0;
  const QSignalBlocker quiet(slider_);
  slider_->setRange(0, std::max(0, static_cast<int>(replay_->steps.size()) - 1));
  decisions_->clear();
  decisions_->addItem(tr("Decisions …"));
  for (std::size_t i = 0; i < replay_->steps.size(); ++i) {
    const ReplayStep& step = replay_->steps[i];
    if (!step.decision()) continue;
    const AlgorithmText* algorithm = find_algorithm(step.algorithm);
    decisions_->addItem(format("{}: {}", algorithm == nullptr ? "" : algorithm->chip, step.message),
                        static_cast<int>(i));
  }
  setEnabled(true);
  goTo(0);
}

void ReplayPane::goTo(std::size_t step) {
  const std::size_t count = replay_->steps.size();
  current_ = count == 0 ? 0 : std::min(step, count - 1);
  const QSignalBlocker quiet(slider_);
  slider_->setValue(static_cast<int>(current_));
  where_->setText(count == 0 ? QString() : format("{} / {}", current_ + 1, count));
  view_->rebuild();
}

void ReplayPane::goToDecision(int way) {
  const auto count = static_cast<int>(replay_->steps.size());
  for (int i = static_cast<int>(current_) + way; i >= 0 && i < count; i += way) {
    if (!replay_->steps[static_cast<std::size_t>(i)].decision()) continue;
    return goTo(static_cast<std::size_t>(i));
  }
}

void ReplayPane::setPlaying(bool playing) {
  if (playing && !replay_->steps.empty()) {
    if (current_ + 1 >= replay_->steps.size()) goTo(0);
    clock_.start();
  } else {
    clock_.stop();
  }
  play_->setText(clock_.isActive() ? tr("Pause") : tr("Play"));
}

void ReplayPane::keyPressEvent(QKeyEvent* event) {
  QScrollBar* bar = view_->verticalScrollBar();
  switch (event->key()) {
    case Qt::Key_Right: return goTo(current_ + 1);
    case Qt::Key_Left: return goTo(current_ == 0 ? 0 : current_ - 1);
    case Qt::Key_Home: return goTo(0);
    case Qt::Key_End: return goTo(replay_->steps.size());
    case Qt::Key_PageDown: return goToDecision(1);
    case Qt::Key_PageUp: return goToDecision(-1);
    case Qt::Key_Space: return setPlaying(!playing());
    case Qt::Key_Up: return bar->setValue(bar->value() - bar->singleStep());
    case Qt::Key_Down: return bar->setValue(bar->value() + bar->singleStep());
    default: Pane::keyPressEvent(event);
  }
}

std::size_t ReplayPane::exportedStep() const {
  // Without a window nobody has chosen a step: the end shows most.
  return isVisible() || replay_->steps.empty() ? current_ : replay_->steps.size() - 1;
}

QSizeF ReplayPane::exportSize(QSizeF room) { return replay_picture(*replay_, exportedStep(), look(), room).size; }

void ReplayPane::draw(QPainter& painter, QSizeF size) {
  paint(painter, replay_picture(*replay_, exportedStep(), look(), size));
}

QString ReplayPane::specialFormats() const {
  return tr("the replay also as .html (a page for a lecture) or into a folder (a picture of every step)");
}

std::optional<ExportWork> ReplayPane::exportSpecial(const QString& path, QSizeF room) {
  const QString ending = QFileInfo(path).suffix().toLower();
  if (ending == QStringLiteral("svg") || ending == QStringLiteral("png") || ending == QStringLiteral("pdf")) {
    return std::nullopt;
  }
  const bool page = ending == QStringLiteral("html");
  // Colours and fonts as they are now, whatever the window goes on to.
  auto same_look = std::make_shared<Look>();
  same_look->copy(look());
  return [path, room, page, ending, also = specialFormats(), replay = replay_, same_look]() -> QString {
    if (!page && !ending.isEmpty() && !is_folder(path)) {
      return tr("%1: pictures are written as .svg, .png or .pdf; %2").arg(path, also);
    }
    if (replay->steps.empty()) return tr("choose a fused operator whose plan is to be replayed (--op NAME)");
    return page ? write_file(path, lecture_page(*replay, *same_look, room))
                : write_step_pictures(*replay, *same_look, room, path);
  };
}

}  // namespace stowage::inspector
