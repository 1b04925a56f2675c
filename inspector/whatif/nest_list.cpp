// SPDX-License-Identifier: Apache-2.0
#include "inspector/whatif/nest_list.h"

#include <QDropEvent>
#include <QKeyEvent>
#include <QSignalBlocker>
#include <QTimer>
#include <algorithm>

namespace stowage::inspector {

namespace {

QString row_text(const GroupControls& controls, const ScheduleRow& row) {
  const QString indent(row.depth * 3, QChar(0x00a0));
  if (row.is_loop) {
    const auto loop = std::find_if(controls.loops.begin(), controls.loops.end(),
                                   [&](const LoopControl& control) { return control.name == row.name; });
    const QString times =
        loop->trips == 1 ? NestList::tr("once") : NestList::tr("%1 times").arg(count_text(loop->trips));
    return indent + NestList::tr("for %1  (%2)").arg(qt(row.name), times);
  }
  const auto place = std::find_if(controls.places.begin(), controls.places.end(),
                                  [&](const PlaceControl& control) { return control.tensor == row.name; });
  return indent + (place->written ? NestList::tr("put %1") : NestList::tr("get %1")).arg(qt(row.name));
}

QString place_names(const PlaceControl& place) {
  QStringList names;
  for (const std::string& loop : place.loops) {
    names.push_back(loop.empty() ? (place.written ? NestList::tr("after the loops") : NestList::tr("before the loops"))
                                 : NestList::tr("inside %1").arg(qt(loop)));
  }
  return names.join(QStringLiteral(", "));
}

}  // namespace

NestList::NestList(const Look& look, QWidget* parent) : QListWidget(parent), look_(look) {
  setDragDropMode(QAbstractItemView::InternalMove);
  setDefaultDropAction(Qt::MoveAction);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setAccessibleName(tr("Loops and transfers, outermost first"));
  connect(this, &QListWidget::itemChanged, this, [this](QListWidgetItem* item) {
    const auto index = static_cast<std::size_t>(row(item));
    if (index < rows_.size() && !rows_[index].is_loop) {
      Q_EMIT tickChanged(rows_[index].name, item->checkState() == Qt::Checked);
    }
  });
}

void NestList::setNest(const GroupControls& controls, const Schedule& fixed) {
  const QSignalBlocker blocker(this);
  const int current = currentRow();
  const ScheduleRow chosen = current >= 0 && static_cast<std::size_t>(current) < rows_.size()
                                 ? rows_[static_cast<std::size_t>(current)]
                                 : ScheduleRow{};
  rows_ = schedule_rows(controls);
  // A buffer that takes a whole iterator has no loop; its row stays free, so that what is below does not move.
  max_rows_ = static_cast<int>(std::max(rows_.size(), controls.iterators.size() + controls.places.size()));
  clear();
  for (const ScheduleRow& row : rows_) {
    auto* item = new QListWidgetItem(row_text(controls, row), this);
    item->setFont(look_.codeFont());
    Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsDragEnabled;
    if (row.is_loop) {
      item->setToolTip(tr("Drag it, or Ctrl+Up and Ctrl+Down, to change the order of the loops"));
    } else {
      flags |= Qt::ItemIsUserCheckable;
      item->setCheckState(fixed.dma.contains(row.name) ? Qt::Checked : Qt::Unchecked);
      const auto place = std::find_if(controls.places.begin(), controls.places.end(),
                                      [&](const PlaceControl& control) { return control.tensor == row.name; });
      item->setToolTip(
          tr("The transfer of %1 can stand %2.\nDrag it, or Ctrl+Up and Ctrl+Down; the tick keeps it where "
             "it is.")
              .arg(qt(row.name), place_names(*place)));
    }
    item->setFlags(flags);
    if (row.is_loop == chosen.is_loop && row.name == chosen.name) setCurrentItem(item);
  }
  updateGeometry();
}

void NestList::freeze() {
  const QSignalBlocker blocker(this);
  for (int row = 0; row < count(); ++row) item(row)->setFlags(Qt::NoItemFlags);
}

void NestList::dropEvent(QDropEvent* event) {
  // The rows stay as they are: the planner's answer decides how they stand. Ignoring keeps Qt from moving the item.
  const int from = currentRow();
  const QPoint at = event->position().toPoint();
  const QModelIndex under = indexAt(at);
  int to = count();
  if (under.isValid()) to = under.row() + (at.y() > visualRect(under).center().y() ? 1 : 0);
  event->setDropAction(Qt::IgnoreAction);
  event->accept();
  // After the drag has ended, which looks at the list again.
  if (from >= 0) {
    QTimer::singleShot(
        0, this, [this, from, to] { Q_EMIT moved(static_cast<std::size_t>(from), static_cast<std::size_t>(to)); });
  }
}

void NestList::keyPressEvent(QKeyEvent* event) {
  const bool up = event->key() == Qt::Key_Up;
  if ((event->modifiers() & Qt::ControlModifier) != 0 && (up || event->key() == Qt::Key_Down) && currentRow() >= 0) {
    Q_EMIT stepped(static_cast<std::size_t>(currentRow()), up ? -1 : 1);
    return;
  }
  QListWidget::keyPressEvent(event);
}

QSize NestList::sizeHint() const {
  constexpr int characters = 28;
  const int row = count() > 0 ? sizeHintForRow(0) : fontMetrics().height() + 4;
  return {characters * fontMetrics().averageCharWidth(), row * std::max(max_rows_, 3) + 2 * frameWidth() + 4};
}

QSize NestList::minimumSizeHint() const { return sizeHint(); }

}  // namespace stowage::inspector
