// SPDX-License-Identifier: Apache-2.0
// The arrangements that come with the program. They name panes by the table's names; those that there are not are left
// out.
#include <QDockWidget>
#include <QMenuBar>
#include <QStatusBar>
#include <QToolBar>
#include <array>

#include "inspector/window/main_window.h"

namespace stowage::inspector {

namespace {

/// Panes side by side from left to right over a lower row; panes of one cell are tabs, the first in front.
struct Layout {
  const char* name;
  std::vector<std::vector<const char*>> upper;
  std::vector<int> widths;  ///< of the upper row's cells, relative
  std::vector<const char*> lower;
  int upper_height = 2;
  int lower_height = 1;
  bool below_last = false;  ///< the lower row stands below the last cell only
};

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> rows = {
      {"compile",
       {{"graph", "fusion"},
        {"loops", "ldm", "timeline", "cost", "replay", "whatif", "compare", "sensitivity", "check"}},
       {2, 3},
       {"tables", "problems"},
       9,
       5},
      {"memory", {{"ldm"}, {"loops"}}, {1, 1}, {"tables", "problems"}, 2, 1, true},
      {"check", {{"check", "problems"}}, {1}, {}},
      {"teach", {{"replay", "loops"}, {"ldm", "whatif"}}, {3, 2}, {}, 1, 1},
  };
  return rows;
}

}  // namespace

std::vector<QString> layout_names() {
  std::vector<QString> names;
  for (const Layout& layout : layouts()) names.push_back(QString::fromLatin1(layout.name));
  return names;
}

void MainWindow::setLayoutNamed(const QString& name) {
  const Layout* wanted = nullptr;
  for (const Layout& layout : layouts()) {
    if (name == QLatin1String(layout.name)) wanted = &layout;
  }
  if (wanted == nullptr || showsStartPage()) return;
  const Arranging arranging(*this);
  for (const auto& [pane, dock] : docks_) {
    removeDockWidget(dock);
    dock->setFloating(false);
    dock->hide();
  }
  QList<QDockWidget*> columns;
  QList<int> widths;
  // The front docks first, the others as their tabs afterwards: beside a dock that has tabs already Qt would not split,
  // but add one more tab.
  std::vector<std::pair<QDockWidget*, std::vector<QDockWidget*>>> cells;
  const auto add_cell = [&](const auto& cell, const auto& subject) {
    QDockWidget* front = nullptr;
    for (const char* pane : cell) {
      const auto dock = docks_.find(std::string_view(pane));
      if (dock == docks_.end()) continue;
      if (front == nullptr) {
        front = dock->second;
        subject(front);
        cells.push_back({front, {}});
      } else {
        cells.back().second.push_back(dock->second);
      }
    }
    if (front != nullptr) front->show();
    return front;
  };
  QDockWidget* below = nullptr;
  if (!wanted->below_last) {
    below = add_cell(wanted->lower, [this](QDockWidget* dock) { addDockWidget(Qt::BottomDockWidgetArea, dock); });
  }
  for (std::size_t i = 0; i < wanted->upper.size(); ++i) {
    QDockWidget* front = add_cell(wanted->upper[i], [&](QDockWidget* dock) {
      if (columns.isEmpty()) {
        addDockWidget(Qt::TopDockWidgetArea, dock);
      } else {
        splitDockWidget(columns.back(), dock, Qt::Horizontal);
      }
    });
    if (front == nullptr) continue;
    columns.push_back(front);
    widths.push_back(wanted->widths[i] * width() / 10);
  }
  if (wanted->below_last && !columns.isEmpty()) {
    below = add_cell(wanted->lower, [&](QDockWidget* dock) { splitDockWidget(columns.back(), dock, Qt::Vertical); });
  }
  for (const auto& [front, behind] : cells) {
    QDockWidget* last = front;
    for (QDockWidget* dock : behind) {
      tabifyDockWidget(last, dock);
      dock->show();
      last = dock;
    }
    front->raise();
  }
  if (!cells.empty()) tabHiddenBehind(columns.isEmpty() ? cells.front().first : columns.back());
  if (columns.size() > 1) resizeDocks(columns, widths, Qt::Horizontal);
  if (below != nullptr && !columns.isEmpty()) {
    const int parts = wanted->upper_height + wanted->lower_height;
    int room = height() - menuBar()->sizeHint().height() - statusBar()->sizeHint().height();
    for (const auto* bar : findChildren<QToolBar*>()) room -= bar->sizeHint().height();
    resizeDocks({wanted->below_last ? columns.back() : columns.front(), below},
                {room * wanted->upper_height / parts, room * wanted->lower_height / parts}, Qt::Vertical);
  }
}

/// What is not shown gets its place all the same, as a hidden tab: Qt would put docks that have none beside the others
/// when it restores an arrangement.
void MainWindow::tabHiddenBehind(QDockWidget* front) {
  for (const auto& [pane, dock] : docks_) {
    if (dockWidgetArea(dock) != Qt::NoDockWidgetArea) continue;
    tabifyDockWidget(front, dock);
    dock->hide();
  }
  front->raise();
}

}  // namespace stowage::inspector
