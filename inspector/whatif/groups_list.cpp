// SPDX-License-Identifier: Apache-2.0
#include "inspector/whatif/groups_list.h"

#include <QHeaderView>
#include <QScrollBar>
#include <algorithm>

#include "fusion/groups/group.h"

namespace stowage::inspector {

namespace {

constexpr int way_column = 0;
constexpr int groups_column = 1;
constexpr int cycles_column = 2;
constexpr int change_column = 3;

/// How a way differs from the group that is now.
QString way_text(const Regrouping& way, OpId focus) {
  const std::vector<OpId>* own = nullptr;
  for (const std::vector<OpId>& group : way.before) {
    if (std::find(group.begin(), group.end(), focus) != group.end()) own = &group;
  }
  if (own == nullptr) return GroupsList::tr("other");
  const auto inside = [](const std::vector<OpId>& part, const std::vector<OpId>& whole) {
    return std::all_of(part.begin(), part.end(),
                       [&](OpId op) { return std::find(whole.begin(), whole.end(), op) != whole.end(); });
  };
  if (way.before.size() == 1) return GroupsList::tr("apart");
  return inside(*own, way.after.front()) ? GroupsList::tr("join") : GroupsList::tr("shift");
}

}  // namespace

GroupsList::GroupsList(WhatIfSession& session, const Look& look, QWidget* parent)
    : QTreeWidget(parent), session_(session), look_(look) {
  setColumnCount(4);
  setHeaderLabels({tr("way"), tr("groups"), tr("after"), tr("change")});
  headerItem()->setToolTip(groups_column, tr("the groups that it makes of the same operators, separated by |"));
  headerItem()->setToolTip(cycles_column, tr("what these groups take, as the planner plans them on this target"));
  headerItem()->setToolTip(change_column, tr("against the groups as they are edited now"));
  for (const int column : {cycles_column, change_column}) headerItem()->setTextAlignment(column, Qt::AlignRight);
  setRootIsDecorated(false);
  setUniformRowHeights(true);
  setAllColumnsShowFocus(true);
  setAccessibleName(tr("Other ways to group the operators"));
  setTextElideMode(Qt::ElideMiddle);
  header()->setStretchLastSection(false);
  header()->setSectionResizeMode(QHeaderView::ResizeToContents);
  header()->setSectionResizeMode(groups_column, QHeaderView::Stretch);
  connect(this, &QTreeWidget::itemActivated, this, [this](QTreeWidgetItem* item) { take(indexOfTopLevelItem(item)); });
}

void GroupsList::add(const QString& way, const Grouping& groups, std::optional<std::int64_t> cycles,
                     std::optional<std::int64_t> change, const QString& tip) {
  const Target& target = session_.base()->program().target;
  auto* item = new QTreeWidgetItem(this);
  const QString text = qt(groups_text(session_.base()->graph(), groups));
  item->setText(way_column, way);
  item->setText(groups_column, text);
  item->setToolTip(groups_column, tip.isEmpty() ? text : text + QLatin1Char('\n') + tip);
  item->setToolTip(way_column, item->toolTip(groups_column));
  const bool possible = choices_.back().refusal.isEmpty();
  if (possible && cycles) item->setText(cycles_column, time_text(*cycles, target.clock_hz, look_.units()));
  if (possible && change) {
    const QString size = time_text(std::abs(*change), target.clock_hz, look_.units());
    item->setText(change_column, *change == 0 ? QStringLiteral("–")
                                              : (*change > 0 ? QStringLiteral("+") : QStringLiteral("−")) + size);
  }
  for (int column = 0; column < columnCount(); ++column) {
    if (column >= cycles_column) item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    if (!possible) item->setForeground(column, look_.theme().muted);
  }
  if (possible && change && *change > 0) item->setForeground(change_column, look_.theme().error);
}

void GroupsList::refresh() {
  // What was looked at and chosen stays so, as far as it is still there.
  const QString chosen = currentItem() != nullptr ? currentItem()->text(groups_column) : QString();
  const int scrolled = verticalScrollBar()->value();
  fill();
  setCurrentItem(topLevelItem(rowOf(chosen)));
  verticalScrollBar()->setValue(scrolled);
}

void GroupsList::fill() {
  clear();
  choices_.clear();
  if (!session_.step() || !session_.base()) return;
  const LoadedPlan& base = *session_.base();
  const auto note = [&](const QString& text) {
    choices_.push_back({{}, {}, text});
    auto* item = new QTreeWidgetItem(this, {QString(), text});
    item->setForeground(groups_column, look_.theme().muted);
  };
  // Edits are judged by the terms of the closed form, whatever compared the plan's groups.
  if (base.program().evaluated_by != EvaluatedBy::closed_form) {
    note(tr("cycles by the closed form; the plan's groups were compared by %1")
             .arg(qt(text_of(base.program().evaluated_by))));
  }
  const Regrouped around = regrouped_at(base, session_.edit(), session_.focus());
  const std::vector<Regrouping>& ways = session_.regroupings();
  if (around.otherwise && (ways.empty() || !ways.front().as_planned)) {
    // The way back is there before anything is counted.
    Grouping planned;
    for (const StepId step : around.steps) {
      planned.push_back(base.steps[step].step->group.operators);
    }
    choices_.push_back({planned, tr("groups as planned"), {}});
    add(tr("as planned"), planned, std::nullopt, std::nullopt, {});
  }
  if (session_.pricing()) note(tr("other groups are being priced…"));
  for (const Regrouping& way : ways) {
    const std::optional<std::int64_t> change = way.counted ? std::optional(way.change()) : std::nullopt;
    if (way.as_planned) {
      choices_.push_back({way.after, tr("groups as planned"), {}});
      add(tr("as planned"), way.after, way.cycles_after, change, tr("on the edited target"));
      continue;
    }
    QString refusal;
    for (const Decision& decision : way.refusals) {
      refusal += (refusal.isEmpty() ? QString() : QStringLiteral("; ")) + qt(decision.rule + ": " + decision.reason);
    }
    const QString words = qt(groups_text(base.graph(), way.after));
    choices_.push_back({way.after, tr("groups %1").arg(words),
                        refusal.isEmpty() ? QString() : tr("%1 cannot be one group. %2.").arg(words, refusal)});
    add(refusal.isEmpty() ? way_text(way, session_.focus()) : tr("refused"), way.after, way.cycles_after, change,
        refusal.isEmpty() ? tr("template %1").arg(qt(way.templates)) : refusal);
  }
  if (ways.empty() && !around.otherwise && !session_.pricing())
    note(tr("no template takes these operators in another way"));
}

int GroupsList::rowOf(const QString& groups) const {
  for (int row = 0; row < topLevelItemCount(); ++row) {
    if (topLevelItem(row)->text(groups_column) == groups) return row;
  }
  return -1;
}

void GroupsList::take(int row) {
  if (row < 0 || row >= static_cast<int>(choices_.size())) return;
  const Choice choice = choices_[static_cast<std::size_t>(row)];  // a copy: taking it refreshes the list
  if (!choice.refusal.isEmpty()) {
    Q_EMIT refused(choice.refusal);
  } else if (!choice.groups.empty()) {
    session_.regroup(choice.groups, choice.words);
  }
}

// As high empty as full: what is below must not move under the pointer while prices come in.
QSize GroupsList::sizeHint() const {
  constexpr int rows = 6;
  constexpr int characters = 28;
  return {characters * fontMetrics().averageCharWidth(),
          header()->sizeHint().height() + rows * (fontMetrics().height() + 4) + 2 * frameWidth()};
}

QSize GroupsList::minimumSizeHint() const { return sizeHint(); }

}  // namespace stowage::inspector
