// SPDX-License-Identifier: Apache-2.0
#include "inspector/window/pane_area.h"

#include <QEvent>
#include <QScrollBar>

namespace stowage::inspector {

PaneArea::PaneArea(QWidget* pane, QWidget* parent) : QScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::NoFocus);
  setWidget(pane);
  pane->installEventFilter(this);
}

void PaneArea::resizeEvent(QResizeEvent* event) {
  QScrollArea::resizeEvent(event);
  fit();
}

// Where the least size was told, this hears of another one; where it follows from the layout, the pane does.
bool PaneArea::event(QEvent* event) {
  if (event->type() == QEvent::LayoutRequest) fit();
  return QScrollArea::event(event);
}

bool PaneArea::eventFilter(QObject* object, QEvent* event) {
  if (object == widget() && event->type() == QEvent::LayoutRequest) fit();
  return QScrollArea::eventFilter(object, event);
}

// Qt's own way to do it (widgetResizable) asks for the height that wrapped lines like best, not for the least.
void PaneArea::fit() {
  if (widget() == nullptr) return;
  const QSize asked = widget()->minimumSize();
  const QSize least(asked.width() > 0 ? asked.width() : widget()->minimumSizeHint().width(),
                    asked.height() > 0 ? asked.height() : widget()->minimumSizeHint().height());
  QSize room = maximumViewportSize();
  const bool scrolls_down = least.height() > room.height();
  if (scrolls_down) room.rwidth() -= verticalScrollBar()->sizeHint().width();
  if (least.width() > room.width()) {
    room.rheight() -= horizontalScrollBar()->sizeHint().height();
    if (!scrolls_down && least.height() > room.height()) room.rwidth() -= verticalScrollBar()->sizeHint().width();
  }
  widget()->resize(room.expandedTo(least));
}

}  // namespace stowage::inspector
