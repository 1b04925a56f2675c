// SPDX-License-Identifier: Apache-2.0
// The docks of the window: which pane is in front, and which has the keyboard.
#include <QApplication>
#include <QChildEvent>
#include <QDockWidget>
#include <QTabBar>
#include <QTimer>
#include <utility>

#include "inspector/window/main_window.h"
#include "inspector/window/pane_area.h"

namespace stowage::inspector {

Pane* MainWindow::pane(std::string_view name) {
  const auto found = panes_.find(name);
  return found == panes_.end() ? nullptr : found->second;
}

void MainWindow::raisePane(std::string_view name) {
  const auto found = docks_.find(name);
  if (found == docks_.end() || showsStartPage()) return;
  found->second->show();
  found->second->raise();
  if (found->second->isFloating()) found->second->activateWindow();
  paneIn(*found->second).takeKeyboard();
  last_dock_ = found->second;
}

Pane& MainWindow::paneIn(const QDockWidget& dock) const {
  return *panes_.find(dock.objectName().toStdString())->second;
}

QDockWidget* MainWindow::dockTitled(const QString& title) const {
  for (const auto& [name, dock] : docks_) {
    if (dock->windowTitle() == title) return dock;
  }
  return nullptr;
}

void MainWindow::chooseDock(const QDockWidget& dock) {
  Pane& pane = paneIn(dock);
  if (pane.inSight() && !pane.isAncestorOf(QApplication::focusWidget())) pane.takeKeyboard();
}

void MainWindow::giveKeyboard() {
  QDockWidget* first = nullptr;
  const auto subject = [](const QDockWidget& dock) { return std::pair(dock.x(), dock.y()); };
  for (const auto& [name, dock] : docks_) {
    if (dock->isFloating() || !paneIn(*dock).inSight()) continue;
    if (dock->isAncestorOf(focusWidget())) return;
    if (first == nullptr || subject(*dock) < subject(*first)) first = dock;
  }
  if (first == nullptr) return;
  paneIn(*first).takeKeyboard();
  last_dock_ = first;
}

void MainWindow::childEvent(QChildEvent* event) {
  QMainWindow::childEvent(event);
  // Qt makes a bar of tabs wherever docks stand behind each other.
  auto* bar = event->polished() ? qobject_cast<QTabBar*>(event->child()) : nullptr;
  if (bar == nullptr) return;
  bar->setElideMode(Qt::ElideNone);  // "C..." would be one of three: where they have no room, bars scroll
  connect(bar, &QTabBar::tabBarClicked, this, [this, bar](int index) {
    // Once the click has brought it to the front.
    QTimer::singleShot(0, this, [this, title = bar->tabText(index)] {
      if (const QDockWidget* dock = dockTitled(title)) chooseDock(*dock);
    });
  });
}

bool MainWindow::eventFilter(QObject* object, QEvent* event) {
  // Its title, and what nothing in its pane has taken.
  if (event->type() == QEvent::MouseButtonPress) {
    if (const auto* dock = qobject_cast<QDockWidget*>(object)) chooseDock(*dock);
  }
  return QMainWindow::eventFilter(object, event);
}

QDockWidget* MainWindow::currentDock() const {
  // While the arrow keys go from tab to tab, the one that they have reached.
  const auto* tabs = qobject_cast<const QTabBar*>(QApplication::focusWidget());
  if (tabs != nullptr && tabs->parent() == this) return dockTitled(tabs->tabText(tabs->currentIndex()));
  const auto in_sight = [this](const QDockWidget* dock) { return paneIn(*dock).inSight(); };
  if (last_dock_ != nullptr) {
    if (in_sight(last_dock_)) return last_dock_;
    for (QDockWidget* beside : tabifiedDockWidgets(last_dock_)) {
      if (in_sight(beside)) return beside;
    }
  }
  for (const PaneRow& row : pane_table()) {
    QDockWidget* dock = docks_.find(row.name)->second;
    if (in_sight(dock)) return dock;
  }
  return nullptr;
}

}  // namespace stowage::inspector
