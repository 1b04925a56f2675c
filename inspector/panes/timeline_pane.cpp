// SPDX-License-Identifier: Apache-2.0
#include "inspector/panes/timeline_pane.h"

#include <QHBoxLayout>
#include <QVBoxLayout>
#include <algorithm>

#include "core/number_text.h"
#include "driver/drawing/program_timeline.h"
#include "inspector/look/wheel_guard.h"

namespace stowage::inspector {

TimelinePane::TimelinePane(const PaneContext& context)
    : Pane(context),
      core_(new QSpinBox(this)),
      one_core_(new QCheckBox(tr("Only this core"), this)),
      whole_(new QToolButton(this)),
      view_(new TimelineView(look(), this)),
      statistics_(new QLabel(this)) {
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(8, 3, 8, 3);
  auto* label = new QLabel(tr("&Core"), this);
  label->setBuddy(core_);
  bar->addWidget(label);
  bar->addSpacing(4);
  bar->addWidget(core_);
  bar->addWidget(one_core_);
  bar->addStretch(1);
  bar->addWidget(whole_);
  core_->setToolTip(tr("The core whose buffer slots are shown"));
  core_->setAccessibleName(tr("Core"));
  guard_wheel(core_);
  one_core_->setToolTip(tr("Show no other cores than this one, and those that do the same"));
  whole_->setText(tr("Whole launch"));
  whole_->setToolTip(
      tr("Show all of it (F). Wheel, W and S zoom; drag, A and D pan; drag with Shift selects a span to be measured. "
         "A click sets the cursor, which the LDM follows: drag it, or move it by comma and period, with Shift to the "
         "next change"));
  statistics_->setTextFormat(Qt::PlainText);
  statistics_->setWordWrap(true);
  statistics_->setContentsMargins(8, 3, 8, 3);
  statistics_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  statistics_->hide();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(bar);
  layout->addWidget(view_, 1);
  layout->addWidget(statistics_);
  view_->setAccessibleName(tr("Timeline"));
  view_->setBuilder([this](QSizeF room) { return build(room, view_); });
  view_->setCursorMarks([this] { return cursorMarks(); });
  connect(view_, &DrawingView::chosen, &selection(), &Selection::select);
  connect(view_, &DrawingView::hovered, &selection(), &Selection::hover);
  connect(view_, &TimelineView::spanChanged, this, &TimelinePane::tellSpan);
  connect(view_, &TimelineView::cursorChanged, this, &TimelinePane::tellCursor);
  connect(view_, &TimelineView::changeWanted, this, &TimelinePane::toChange);
  connect(whole_, &QToolButton::clicked, view_, &TimelineView::showAll);
  connect(core_, &QSpinBox::valueChanged, this, [this] {
    view_->rebuild();
    tellCursor();
  });
  connect(one_core_, &QCheckBox::toggled, view_, &DrawingView::rebuild);
  connect(&simulating_, &Background::fault, this, &Pane::message);
}

std::optional<StepId> TimelinePane::baselineStep() const {
  const PlanComparison* const both = comparison();
  return both == nullptr ? std::nullopt : both->baseline_step(subject().step);
}

void TimelinePane::refresh(unsigned changes) {
  if ((changes & comparison_changed) != 0 || plan() != shown_plan_ || subject().step != shown_step_) find();
  if ((changes & look_changed) != 0) {
    pictures_.clear();
    view_->rebuild();
    tellSpan();
  }
  view_->setLit(subject(), selection().hovered());
}

/// Takes what is known; simulates what is not.
void TimelinePane::find() {
  shown_plan_ = plan();
  shown_step_ = subject().step;
  baseline_step_ = baselineStep();
  baseline_plan_ = !baseline_step_ ? nullptr : document().baseline();
  struct Wanted {
    PlanPtr plan;
    std::optional<StepId> step;
    std::string key;
  };
  std::vector<Wanted> wanted;
  const auto known = [&](const PlanPtr& of, std::optional<StepId> step) {
    if (!of) return SimulatedGroup();
    const std::string key = key_of(*of, step);
    if (key.empty()) return SimulatedGroup();
    if (const SimulatedGroup* found = known_.find(key)) return *found;
    wanted.push_back({of, step, key});
    return SimulatedGroup();
  };
  if (!shown_step_ && shown_plan_) return findLaunches();
  const SimulatedGroup current = known(shown_plan_, shown_step_);
  const SimulatedGroup baseline = known(baseline_plan_, baseline_step_);
  simulating_.cancel();
  if (wanted.empty()) return show(current, baseline);
  shown_ = baseline_ = {};
  simulating_.start([this, wanted](const std::stop_token& stop, const ProgressSink&) -> Background::Deliver {
    std::vector<SimulatedGroup> made;
    for (const Wanted& one : wanted) made.push_back(simulate_group(*one.plan, one.step, stop));
    return [this, wanted, made] {
      for (std::size_t i = 0; i < wanted.size(); ++i) known_.keep(wanted[i].key, made[i]);
      find();
    };
  });
  show({}, {});
}

void TimelinePane::findLaunches() {
  simulating_.cancel();
  shown_ = baseline_ = {};
  if (launches_plan_ == shown_plan_) return show({}, {});
  launches_plan_.reset();
  launches_ = {};
  simulating_.start(
      [this, plan = shown_plan_](const std::stop_token& stop, const ProgressSink& progress) -> Background::Deliver {
        SimulatedSteps steps = simulate_steps(*plan, stop, progress);
        return [this, plan, steps = std::move(steps)]() mutable {
          launches_ = std::move(steps);
          launches_plan_ = plan;
          find();
        };
      });
  show({}, {});
}

void TimelinePane::show(const SimulatedGroup& current, const SimulatedGroup& baseline) {
  const bool is_same = shown_.tracks && shown_.tracks == current.tracks;
  shown_ = current;
  baseline_ = baseline;
  pictures_.clear();  // equal nests share tracks, and have names of their own
  if (!is_same) view_->setCursorCycle(-1);
  std::int64_t cycles = 0;
  int cores = 1;
  for (const SimulatedGroup* group : {&shown_, &baseline_}) {
    if (!group->tracks) continue;
    cycles = std::max(cycles, group->tracks->simulation.cycles);
    cores = std::max(cores, static_cast<int>(group->tracks->simulation.cores.size()));
  }
  const bool is_network = !shown_step_ && launches_plan_ && launches_plan_ == shown_plan_;
  if (is_network) cycles = drawing::step_starts(launches_).back();
  const bool is_shown = shown_.tracks != nullptr;
  for (QWidget* widget : std::initializer_list<QWidget*>{core_, one_core_, whole_}) widget->setEnabled(is_shown);
  whole_->setEnabled(is_shown || is_network);
  if (is_shown) core_->setRange(0, cores - 1);
  view_->setWhole(cycles);
  view_->rebuild();
  view_->setLit(subject(), selection().hovered());
  tellSpan();
}

Drawing TimelinePane::message(QSizeF room) const {
  QString text;
  if (!plan()) {
    text = tr("Nothing is open");
  } else if (step() == nullptr) {
    text = tr("Simulating the network …");
  } else if (step()->plan == nullptr) {
    text = tr("%1 is %2").arg(qt(step()->step->group.name), qt(step()->step->kind().without_nest));
  } else if (!shown_.refusal.isEmpty()) {
    text = tr("%1 cannot be simulated: %2").arg(qt(step()->step->group.name), shown_.refusal);
  } else {
    text = tr("Simulating %1 …").arg(qt(step()->step->group.name));
  }
  Drawing drawing;
  drawing.size = room;
  drawing.text({12, 8, room.width() - 24, static_cast<double>(look().lines(2))}, text, theme().muted,
               look().textFont());
  return drawing;
}

Drawing TimelinePane::build(QSizeF room, TimelineView* told) {
  const bool is_network = shown_plan_ && !shown_step_ && launches_plan_ == shown_plan_;
  if (!is_network && (!shown_plan_ || !shown_.tracks)) return message(room);
  drawing::TimelineView wanted;
  wanted.from = view_->from();
  wanted.to = view_->to();
  wanted.core = core_->value();
  wanted.one_core = one_core_->isChecked();
  wanted.span_from = view_->spanFrom();
  wanted.span_to = view_->spanTo();
  wanted.cursor = is_network ? -1 : view_->cursor();
  const drawing::Sheet sheet = sheet_of(look(), {room.width(), 0}, &widths_);
  if (is_network) {
    const drawing::TimelineChart chart =
        drawing::program_timeline(shown_plan_->program(), launches_, wanted, std::nullopt, sheet);
    if (told != nullptr) told->setAxis(chart.left, chart.right);
    return drawn(chart.scene, look());
  }
  wanted.cursor = -1;
  const Picture& picture = this->picture(wanted, room.width());
  if (told != nullptr) told->setAxis(picture.charts.front().left, picture.charts.front().right);
  Drawing made = picture.drawing;
  for (Mark& mark : cursorMarks(picture)) {
    made.marks.push_back(std::move(mark));
    ++made.passing;
  }
  return made;
}

std::vector<Mark> TimelinePane::cursorMarks(const Picture& picture) const {
  const drawing::Sheet sheet = sheet_of(look(), {picture.width, 0});
  std::vector<Mark> marks;
  for (std::size_t i = 0; i < picture.charts.size(); ++i) {
    const Program& program = (i == 0 ? shown_plan_ : baseline_plan_)->program();
    for (Mark& mark :
         drawn(drawing::timeline_cursor(program, picture.charts[i], view_->cursor(), sheet), look()).marks) {
      mark.rect.translate(0, picture.tops[i]);
      mark.points.translate(0, picture.tops[i]);
      marks.push_back(std::move(mark));
    }
  }
  return marks;
}

std::optional<std::vector<Mark>> TimelinePane::cursorMarks() const {
  if (view_->cursor() < 0 || !shown_step_ || !shown_.tracks) return std::vector<Mark>();
  const double width = view_->drawing().size.width();
  const auto shown = std::find_if(pictures_.begin(), pictures_.end(),
                                  [&](const Picture& made) { return made.drawing.size.width() == width; });
  return shown == pictures_.end() ? std::nullopt : std::optional(cursorMarks(*shown));
}

const TimelinePane::Picture& TimelinePane::picture(const drawing::TimelineView& view, double width) {
  std::erase_if(pictures_, [&](const Picture& other) { return !(other.view == view); });
  const auto known =
      std::find_if(pictures_.begin(), pictures_.end(), [&](const Picture& other) { return other.width == width; });
  if (known != pictures_.end()) return *known;
  if (pictures_.size() > 1) pictures_.erase(pictures_.begin());
  const drawing::Sheet sheet = sheet_of(look(), {width, 0}, &widths_);
  Picture made{view, width, {}, {}, {}};
  const auto add = [&](drawing::TimelineChart chart, double top) {
    chart.scene = {};
    made.charts.push_back(std::move(chart));
    made.tops.push_back(top);
  };
  drawing::TimelineChart chart =
      drawing::timeline_chart(shown_plan_->program(), *shown_step_, *shown_.tracks, view, sheet);
  made.drawing = drawn(chart.scene, look());
  add(std::move(chart), 0);
  if (baseline_.tracks) {
    drawing::TimelineChart before =
        drawing::timeline_chart(baseline_plan_->program(), *baseline_step_, *baseline_.tracks, view, sheet);
    Drawing below = drawn(before.scene, look());
    add(std::move(before), made.drawing.size.height());
    below.marks.front().text = tr("Baseline: %1").arg(qt(baseline_plan_->step(baseline_step_)->step->group.name));
    for (Mark& mark : below.marks) {
      mark.rect.translate(0, made.tops.back());
      mark.points.translate(0, made.tops.back());
      // Its statements are of another nest.
      mark.subject.reset();
      made.drawing.marks.push_back(std::move(mark));
    }
    made.drawing.size.rheight() += below.size.height();
  }
  pictures_.push_back(std::move(made));
  return pictures_.back();
}

int TimelinePane::shownCore() const {
  return std::min(core_->value(), static_cast<int>(shown_.tracks->simulation.cores.size()) - 1);
}

void TimelinePane::tellCursor() {
  std::optional<TimeCursor> cursor;
  if (shown_.tracks && view_->cursor() >= 0) {
    const LoopNest& nest = shown_plan_->step(shown_step_)->plan->nest;
    const int core = shownCore();
    cursor = {shown_step_, core, view_->cursor(),
              execution_point(nest, shown_plan_->program().target, *shown_.tracks, core, view_->cursor()),
              shown_.tracks};
  }
  selection().setTimeCursor(std::move(cursor));
  tellSpan();
}

/// Where the core or one of its slots begins to do something else.
void TimelinePane::toChange(int direction) {
  if (!shown_.tracks) return;
  const TimelineTracks& tracks = *shown_.tracks;
  const std::int64_t now = std::max<std::int64_t>(view_->cursor(), 0);
  const CoreTracks& group = tracks.groups[tracks.group_of(shownCore())];
  std::optional<std::int64_t> found;
  const auto look_at = [&](const TimelineTrack& track) {
    const auto moment = track.at(direction < 0 ? now - 1 : now);
    if (!moment) return;
    const std::int64_t at = direction < 0 ? moment->from : moment->to;
    if (!found || (direction < 0 ? at > *found : at < *found)) found = at;
  };
  look_at(group.core);
  for (const TimelineTrack& slot : group.slots) look_at(slot);
  if (!found || *found < 0) return;
  view_->setCursorCycle(*found);
  view_->showCursor();
}

/// "Cycle 12 345, core 3: compute update …, ko 3 of 16", and what its slots do.
QStringList TimelinePane::cursorLines() const {
  const auto& cursor = selection().timeCursor();
  if (!cursor || cursor->tracks != shown_.tracks) return {};
  const LoopNest& nest = shown_plan_->step(shown_step_)->plan->nest;
  const auto moment = cursor->tracks->groups[cursor->tracks->group_of(cursor->core)].core.at(cursor->cycle);
  QString line = tr("Cycle %1, core %2: %3")
                     .arg(qt(grouped_digits(cursor->cycle)))
                     .arg(cursor->core)
                     .arg(moment ? qt(std::string(name_of(moment->state))) : tr("idle"));
  if (cursor->point.statement) line += tr(", statement %1").arg(cursor->point.statement->index());
  for (const auto& [loop, trip] : cursor->point.trips) {
    const auto& node = std::get<Loop>(find_statement(nest, loop)->node);
    line += QStringLiteral(", %1 = %2").arg(qt(nest.variables[node.variable.index()].name)).arg(trip);
  }
  return {line};
}

void TimelinePane::tellSpan() {
  QStringList lines = cursorLines();
  if (shown_.tracks && view_->spanTo() > view_->spanFrom()) {
    for (const std::string& line : drawing::span_statistics(shown_plan_->program(), *shown_.tracks, shownCore(),
                                                            view_->spanFrom(), view_->spanTo(), look().units())) {
      lines << qt(line);
    }
  }
  statistics_->setText(lines.join(QLatin1Char('\n')));
  statistics_->setVisible(!lines.isEmpty());
}

QSizeF TimelinePane::exportSize(QSizeF room) { return build(room, nullptr).size; }

void TimelinePane::draw(QPainter& painter, QSizeF size) {
  const Drawing whole = build(size, nullptr);
  paint(painter, whole);
  paint_lit(painter, whole, subject(), {}, theme());
}

}  // namespace stowage::inspector
