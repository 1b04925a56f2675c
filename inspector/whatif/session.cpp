// SPDX-License-Identifier: Apache-2.0
#include "inspector/whatif/session.h"

#include <QUndoCommand>
#include <algorithm>

#include "inspector/look/look.h"
#include "inspector/state/told.h"

namespace stowage::inspector {

/// Keeps the edits before and after, so that undo gives back the very value.
class EditCommand : public QUndoCommand {
 public:
  EditCommand(WhatIfSession& session, PlanEdit next, const QString& words, int stroke)
      : QUndoCommand(words), session_(session), before_(session.edit()), after_(std::move(next)), stroke_(stroke) {}
  void undo() override { session_.set(before_); }
  void redo() override { session_.set(after_); }
  [[nodiscard]] int id() const override { return stroke_ > 0 ? stroke_ : -1; }
  bool mergeWith(const QUndoCommand* later) override {
    after_ = static_cast<const EditCommand*>(later)->after_;
    setText(later->text());
    return true;
  }

 private:
  WhatIfSession& session_;
  PlanEdit before_;
  PlanEdit after_;
  int stroke_;
};

WhatIfSession::WhatIfSession(Document& document, Selection& selection, QObject* parent)
    : QObject(parent), document_(document), selection_(selection) {
  connect(&document_, &Document::planChanged, this, &WhatIfSession::follow);
  connect(&document_, &Document::opened, this, [this] { put_away_.clear(); });
  connect(&selection_, &Selection::changed, this, &WhatIfSession::follow);
  connect(this, &WhatIfSession::changed, this, [this] { document_.setStaleness(staleness()); });
  connect(&pricing_, &Background::fault, this, &WhatIfSession::failed);
  connect(&pricing_, &Background::busyChanged, this, &WhatIfSession::priced);
  connect(&evaluating_, &Background::fault, this, [this](const QString& message) {
    // The edits that came meanwhile still wait.
    if (again_) QMetaObject::invokeMethod(this, &WhatIfSession::evaluateNow, Qt::QueuedConnection);
    Q_EMIT failed(message);
  });
  connect(&planning_, &Background::fault, this, &WhatIfSession::failed);
  connect(&planning_, &Background::busyChanged, this, &WhatIfSession::planningChanged);
  connect(&planning_, &Background::progress, this, &WhatIfSession::planningProgress);
  follow();
}

void WhatIfSession::follow() {
  const PlanPtr shown = document_.plan();
  const auto ours = [&] {
    return std::find_if(planned_.begin(), planned_.end(),
                        [&](const Planned& planned) { return planned.plan == shown; });
  };
  if (shown != base_ && ours() == planned_.end()) {
    putAway();
    takeBack(shown);
    step_.reset();
    latest_.reset();
    legal_.reset();
    ways_.clear();
    choices_.reset();
    history_.clear();
    again_ = false;
    pricing_.cancel();
    evaluating_.cancel();
    planning_.cancel();
  }
  shown_ = ours() != planned_.end() ? ours()->edit : PlanEdit{};
  pick();
  Q_EMIT changed();
}

void WhatIfSession::putAway() {
  if (!base_ || (edit_.empty() && snapshots_.empty() && planned_.empty())) return;
  put_away_.push_back({base_, edit_, saved_, std::move(snapshots_), std::move(planned_)});
}

void WhatIfSession::takeBack(const PlanPtr& shown) {
  base_ = shown;
  edit_ = saved_ = {};
  snapshots_.clear();
  planned_.clear();
  const auto away = std::find_if(put_away_.begin(), put_away_.end(), [&](const PutAway& one) {
    return one.base == shown || std::any_of(one.planned.begin(), one.planned.end(),
                                            [&](const Planned& planned) { return planned.plan == shown; });
  });
  if (away == put_away_.end()) return;
  base_ = away->base;
  edit_ = std::move(away->edit);
  saved_ = std::move(away->saved);
  snapshots_ = std::move(away->snapshots);
  planned_ = std::move(away->planned);
  put_away_.erase(away);
}

Staleness WhatIfSession::staleness() const {
  if (!base_ || shown_ == edit_) return Staleness::none;
  if (shown_.empty()) return Staleness::without_edits;
  return edit_.empty() ? Staleness::discarded_edits : Staleness::other_edits;
}

std::optional<WhatIfSession::Unsaved> WhatIfSession::unsaved() const {
  if (base_ && !edit_.empty() && edit_ != saved_) return Unsaved{base_, edit_};
  for (const PutAway& away : put_away_) {
    if (!away.edit.empty() && away.edit != away.saved) return Unsaved{away.base, away.edit};
  }
  return std::nullopt;
}

void WhatIfSession::markSaved(const PlanPtr& plan, const PlanEdit& edit) {
  if (plan == base_) saved_ = edit;
  for (PutAway& away : put_away_) {
    if (away.base == plan) away.saved = edit;
  }
}

/// Finds what is chosen in the base: a network that was made here has the same operators, perhaps in other groups.
bool WhatIfSession::pick() {
  const PlanPtr shown = document_.plan();
  const Subject& subject = selection_.subject();
  std::optional<StepId> step;
  OpId focus;
  if (const StepFacts* chosen = base_ && shown ? shown->step(subject.step) : nullptr) {
    const std::vector<OpId>& operators = chosen->step->group.operators;
    focus = subject.op ? *subject.op : operators.front();
    step = base_->step_of_operator[focus];
    // A view is nothing to edit, unless a group takes it in.
    const Regrouped around = regrouped_at(*base_, edit_, focus);
    if (!around.otherwise && base_->steps[*step].plan == nullptr) step.reset();
  }
  const bool another = step != step_ || (focus != focus_ && !edit_.groups.empty());
  step_ = step;
  focus_ = focus;
  if (another) {
    latest_.reset();
    legal_.reset();
  }
  if (another) ways_.clear();
  const bool asks = another || (step_ && !latest_);
  if (asks) evaluateNow();
  return asks;
}

Schedule WhatIfSession::fixed() const {
  if (!step_ || !latest_) return {};
  const auto edited = edit_.schedules.find(latest_->name);
  return edited != edit_.schedules.end() ? edited->second : latest_->start;
}

void WhatIfSession::change(PlanEdit next, const QString& words, int stroke) {
  if (next == edit_) return;
  history_.push(new EditCommand(*this, std::move(next), words, stroke));
}

void WhatIfSession::fix(Schedule schedule, const QString& words, int stroke) {
  if (!step_ || !latest_ || latest_->edit.groups != edit_.groups) return;
  PlanEdit next = edit_;
  const std::string& name = latest_->name;
  if (schedule == latest_->start) {
    next.schedules.erase(name);
  } else {
    next.schedules[name] = std::move(schedule);
  }
  change(std::move(next), words, stroke);
}

void WhatIfSession::setTarget(const std::string& key, const std::string& value, const QString& words) {
  PlanEdit next = edit_;
  if (value.empty()) {
    next.target.erase(key);
  } else {
    next.target[key] = value;
  }
  change(std::move(next), words);
}

void WhatIfSession::regroup(const Grouping& groups, const QString& words) {
  if (base_) change(with_groups(*base_, edit_, groups), words);
}

void WhatIfSession::priceGroups() {
  const bool known = choices_ && choices_->target == edit_.target;
  const bool asked = pricing_.busy() && asked_target_ == edit_.target;
  if (!base_ || known || asked) return;
  asked_target_ = edit_.target;
  PlanEdit target;
  target.target = edit_.target;
  pricing_.start([this, base = base_, target](const std::stop_token& stop, const ProgressSink&) -> Background::Deliver {
    return [this, base, choices = price_groups(base, target, stop)] {
      if (base != base_ || !choices) return;
      choices_ = choices;
      evaluateNow();
    };
  });
}

void WhatIfSession::set(const PlanEdit& edit) {
  const bool regrouped = edit_.groups != edit.groups;
  edit_ = edit;
  // A view that is chosen may be in a group now.
  if (!regrouped || !pick()) evaluateNow();
  Q_EMIT changed();
}

void WhatIfSession::evaluateNow() {
  again_ = step_ && evaluating_.busy();
  if (!step_) return evaluating_.cancel();
  if (again_) return;
  evaluating_.start([this, base = base_, step = *step_, focus = focus_, edit = edit_, choices = choices_](
                        const std::stop_token&, const ProgressSink&) -> Background::Deliver {
    Evaluation evaluation = evaluate(*base, step, focus, edit, choices.get());
    std::vector<Regrouping> ways;
    if (choices && choices->target == edit.target) ways = stowage::inspector::regroupings(*choices, edit, focus);
    return [this, base, evaluation = std::move(evaluation), ways = std::move(ways)] {
      if (base != base_ || evaluation.step != step_ || evaluation.focus != focus_) {
        again_ = step_.has_value();
      } else {
        latest_ = evaluation;
        ways_ = ways;
        if (evaluation.result) legal_ = evaluation;
      }
      // The next one starts when this one's thread is done with.
      if (again_) QMetaObject::invokeMethod(this, &WhatIfSession::evaluateNow, Qt::QueuedConnection);
      if (latest_) Q_EMIT evaluated();
    };
  });
}

void WhatIfSession::takeSnapshot(const QString& name) {
  std::erase_if(snapshots_, [&](const Snapshot& snapshot) { return snapshot.name == name; });
  snapshots_.push_back({name, edit_});
  if (!planning_.busy()) startPlanning(name, false);
  Q_EMIT changed();
}

void WhatIfSession::restoreSnapshot(std::size_t index) {
  if (index >= snapshots_.size()) return;
  change(snapshots_[index].edit, tr("snapshot %1").arg(snapshots_[index].name));
}

void WhatIfSession::planNetwork() {
  QString name = tr("what-if %1").arg(planned_.size() + 1);
  for (const Snapshot& snapshot : snapshots_) {
    if (snapshot.edit == edit_) name = snapshot.name;
  }
  startPlanning(name, true);
}

void WhatIfSession::startPlanning(const QString& name, bool show) {
  if (!base_) return;
  planning_.start([this, base = base_, edit = edit_, name, show](const std::stop_token& stop,
                                                                 const ProgressSink& progress) -> Background::Deliver {
    Diagnostics diagnostics;
    PlanPtr plan = edit.empty() ? base : plan_network(base, edit, diagnostics, stop, progress);
    return [this, base, edit, name, show, plan, diagnostics] {
      if (base != base_) return;
      if (!plan) {
        const auto entries = diagnostics.entries();
        if (!entries.empty()) Q_EMIT failed(tr("The network cannot be planned so: %1").arg(qt(told(entries.front()))));
        return;
      }
      if (plan != base_) planned_.push_back({edit, plan});
      document_.keep(tr("as opened"), base_);
      document_.keep(name, plan);
      if (!show) return;
      document_.showBaseline(plan != base_ ? base_ : nullptr);
      document_.show(plan);
    };
  });
}

}  // namespace stowage::inspector
