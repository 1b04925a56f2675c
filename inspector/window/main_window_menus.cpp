// SPDX-License-Identifier: Apache-2.0
// The main window's menus, their keys, and the toolbar for going back and forward.
#include <QAction>
#include <QDockWidget>
#include <QMenuBar>
#include <QStatusBar>
#include <QToolBar>

#include "inspector/window/main_window.h"

namespace stowage::inspector {

void MainWindow::makeMenus() {
  makeFileMenu();
  makeGoMenu();
  makeViewMenu();
  QMenu* help = menuBar()->addMenu(tr("&Help"));
  help->addAction(tr("&Panes, keys and terms"), QKeySequence::HelpContents, this, &MainWindow::showHelp);
}

void MainWindow::makeFileMenu() {
  QMenu* file = menuBar()->addMenu(tr("&File"));
  file->addAction(tr("Open &model or batch file…"), QKeySequence::Open, this, &MainWindow::askForModel);
  file->addAction(tr("Open compiled &folder…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O), this,
                  &MainWindow::askForFolder);
  QMenu* samples = file->addMenu(tr("&Samples"));
  samples->setEnabled(false);
  looking_.start([this, samples](const std::stop_token&, const ProgressSink&) -> Background::Deliver {
    return [this, samples, found = find_samples()] {
      start_->setSamples(found);
      for (const Sample& sample : found) {
        samples->addAction(sample.name, this, [this, folder = sample.folder] { open({folder, {}}); });
      }
      samples->setEnabled(!samples->isEmpty());
    };
  });
  QMenu* recent = file->addMenu(tr("&Recent"));
  connect(recent, &QMenu::aboutToShow, this, [this, recent] {
    recent->clear();
    for (const QString& path : settings_.recent()) {
      recent->addAction(path, this, [this, path] { open({path, {}}); });
    }
  });
  file->addSeparator();
  file->addAction(tr("&Export pane…"), QKeySequence(Qt::CTRL | Qt::Key_E), this, &MainWindow::exportCurrent);
  file->addSeparator();
  file->addAction(tr("&Quit"), QKeySequence(Qt::CTRL | Qt::Key_Q), this, &QWidget::close);
}

void MainWindow::makeGoMenu() {
  QMenu* go = menuBar()->addMenu(tr("&Go"));
  QAction* back =
      go->addAction(QStringLiteral("←"), QKeySequence(Qt::ALT | Qt::Key_Left), &selection_, &Selection::goBack);
  QAction* forward =
      go->addAction(QStringLiteral("→"), QKeySequence(Qt::ALT | Qt::Key_Right), &selection_, &Selection::goForward);
  QAction* up = go->addAction(QStringLiteral("↑"), QKeySequence(Qt::ALT | Qt::Key_Up), &selection_, &Selection::goUp);
  back->setText(tr("&Back"));
  forward->setText(tr("&Forward"));
  up->setText(tr("&Up: what is around it"));
  back->setIconText(QStringLiteral("←"));
  forward->setIconText(QStringLiteral("→"));
  up->setIconText(QStringLiteral("↑"));
  const auto update = [this, back, forward] {
    back->setEnabled(selection_.canGoBack());
    forward->setEnabled(selection_.canGoForward());
  };
  connect(&selection_, &Selection::changed, this, update);
  update();
  go->addSeparator();
  go->addAction(tr("&Find in the pane"), QKeySequence::Find, this, &MainWindow::find);
  QToolBar* bar = addToolBar(tr("Navigation"));
  bar->setObjectName(QStringLiteral("navigation"));
  bar->setMovable(false);
  bar->addAction(back);
  bar->addAction(forward);
  bar->addAction(up);
  bar->addSeparator();
  bar->addWidget(breadcrumb_);
}

void MainWindow::makeViewMenu() {
  QMenu* view = menuBar()->addMenu(tr("&View"));
  int number = 1;
  for (const PaneRow& row : pane_table()) {
    QDockWidget* dock = docks_.find(row.name)->second;
    QAction* toggle = dock->toggleViewAction();
    view->addAction(toggle);
    constexpr int most_digits = 20;
    if (number > most_digits) continue;
    // Ctrl+number shows the pane and gives it the keyboard.
    auto* raise = new QAction(this);
    // Ten have a digit with Ctrl; those behind them with Alt.
    const Qt::Modifier modifier = number <= 10 ? Qt::CTRL : Qt::ALT;
    raise->setShortcut(QKeySequence(modifier | static_cast<Qt::Key>(Qt::Key_0 + number % 10)));
    connect(raise, &QAction::triggered, this, [this, name = row.name] { raisePane(name); });
    addAction(raise);
    ++number;
  }
  view->addSeparator();
  QMenu* layouts = view->addMenu(tr("&Layout"));
  for (const QString& name : layout_names()) {
    layouts->addAction(name.left(1).toUpper() + name.mid(1), this, [this, name] { setLayoutNamed(name); });
  }
  layouts->addSeparator();
  layouts->addAction(tr("&Save as my layout"), this,
                     [this] { settings_.saveLayout(QStringLiteral("mine"), saveState(layout_version)); });
  layouts->addAction(tr("&Restore my layout"), this, [this] {
    if (!restoreArrangement(QStringLiteral("mine"))) {
      statusBar()->showMessage(tr("No layout was saved yet"), 5000);
    }
  });
  view->addSeparator();
  QAction* dark = view->addAction(tr("&Dark"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_D), &look_,
                                  [this](bool on) { look_.setDark(on); });
  dark->setCheckable(true);
  QAction* seconds =
      view->addAction(tr("Times in &seconds"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_U), &look_, [this](bool on) {
        Units units = look_.units();
        units.time = on ? TimeUnit::seconds : TimeUnit::cycles;
        look_.setUnits(units);
      });
  QAction* bytes =
      view->addAction(tr("Sizes in &bytes"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_B), &look_, [this](bool on) {
        Units units = look_.units();
        units.bytes = on ? ByteUnit::exact : ByteUnit::rounded;
        look_.setUnits(units);
      });
  bytes->setToolTip(tr("To the byte instead of KiB and MiB"));
  const auto show_look = [this, dark, seconds, bytes] {
    dark->setChecked(look_.theme().dark);
    seconds->setChecked(look_.units().time == TimeUnit::seconds);
    bytes->setChecked(look_.units().bytes == ByteUnit::exact);
  };
  for (QAction* unit : {seconds, bytes}) unit->setCheckable(true);
  show_look();
  connect(&look_, &Look::changed, this, show_look);
  view->addAction(tr("&Larger text"), QKeySequence::ZoomIn, &look_,
                  [this] { look_.setPointSize(look_.pointSize() + 1); });
  view->addAction(tr("S&maller text"), QKeySequence::ZoomOut, &look_,
                  [this] { look_.setPointSize(look_.pointSize() - 1); });
}

}  // namespace stowage::inspector
