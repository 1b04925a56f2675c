// SPDX-License-Identifier: Apache-2.0
#include "inspector/window/main_window.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QLineEdit>
#include <QMenuBar>
#include <QMimeData>
#include <QScreen>
#include <QStatusBar>
#include <QTimer>
#include <QToolBar>
#include <QToolButton>
#include <algorithm>
#include <utility>

#include "core/number_text.h"
#include "inspector/panes/export.h"
#include "inspector/window/pane_area.h"

namespace stowage::inspector {

namespace {

/// The costliest group: what a person looks for first.
std::optional<StepId> costliest_step(const LoadedPlan& plan) {
  std::optional<StepId> best;
  for (const StepId i : plan.steps.ids()) {
    if (plan.steps[i].plan == nullptr) continue;
    if (!best || plan.steps[i].cycles > plan.steps[*best].cycles) best = i;
  }
  return best;
}

/// As large as is of use, with room on the screen for what a window manager puts around it.
QSize first_size(const QWidget& window) {
  constexpr QSize wanted(1280, 800);
  constexpr QSize frame(16, 48);
  return wanted.boundedTo(window.screen()->availableSize() - frame);
}

}  // namespace

MainWindow::MainWindow() : selection_(document_) {
  // Before there is any widget: until the application runs, those that exist keep the font that they have.
  settings_.restore(look_);
  restyle();
  connect(&look_, &Look::changed, this, &MainWindow::restyle);
  start_ = new StartPage(look_, this);
  breadcrumb_ = new Breadcrumb(document_, selection_, this);
  progress_ = new QProgressBar(this);
  cancel_ = new QToolButton(this);
  setObjectName(QStringLiteral("main"));
  setWindowTitle(tr("Stowage inspector"));
  setAcceptDrops(true);
  setDockNestingEnabled(true);
  setCentralWidget(start_);
  progress_->setMaximumWidth(220);
  progress_->hide();
  cancel_->setText(tr("Cancel"));
  cancel_->hide();
  statusBar()->addPermanentWidget(progress_);
  statusBar()->addPermanentWidget(cancel_);
  makePanes();
  makeMenus();
  connectDocument();
  start_->setRecent(settings_.recent());
  resize(first_size(*this));
  restoreGeometry(settings_.geometry());
  showStart(true);
}

MainWindow::~MainWindow() {
  // What lies in the window asks the document and the selection until its end, so it goes before them.
  disconnect(qApp, nullptr, this, nullptr);
  hide();
  for (const auto& [name, dock] : docks_) delete dock;
  delete takeCentralWidget();
  delete breadcrumb_;
}

void MainWindow::makePanes() {
  const PaneContext context{document_, selection_, look_};
  for (const PaneRow& row : pane_table()) {
    const QString title = qt(row.title);
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(qt(row.name));
    Pane* pane = row.make(context);
    pane->setWindowTitle(title);
    pane->setToolTip(QString());
    dock->setWidget(new PaneArea(pane, dock));
    dock->installEventFilter(this);
    dock->setWhatsThis(qt(row.summary));
    addDockWidget(row.area, dock);
    dock->hide();  // until there is something to show: all of them at once would make the window grow
    connect(dock, &QDockWidget::visibilityChanged, pane, [pane](bool visible) {
      if (visible) pane->cameInSight();
    });
    connect(pane, &Pane::message, this, [this](const QString& text) { statusBar()->showMessage(text, 10000); });
    connect(pane, &Pane::messageOver, this, [this](const QString& text) {
      if (statusBar()->currentMessage() == text) statusBar()->clearMessage();
    });
    panes_.emplace(row.name, pane);
    docks_.emplace(row.name, dock);
  }
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
    for (const auto& [name, dock] : docks_) {
      if (now != nullptr && dock->isAncestorOf(now)) last_dock_ = dock;
    }
  });
}

void MainWindow::connectDocument() {
  connect(&document_, &Document::planChanged, this, &MainWindow::showPlan);
  connect(&document_, &Document::staleChanged, this, &MainWindow::markStale);
  connect(&document_, &Document::busyChanged, this, [this] {
    progress_->setRange(0, 0);
    // The start page has its own.
    progress_->setVisible(document_.busy() && !showsStartPage());
    cancel_->setVisible(document_.busy() && !showsStartPage());
    start_->setProgress(document_.busy(), tr("Opening %1").arg(document_.opening().path));
    // What came of it has its own sentence there by now.
    if (!document_.busy() && statusBar()->currentMessage() == progress_message_) statusBar()->clearMessage();
  });
  connect(&document_, &Document::progress, this, [this](const QString& stage, int done, int total) {
    progress_->setRange(0, total);
    progress_->setValue(done);
    const QString what = QFileInfo(document_.opening().path).fileName();
    const QString text = total > 1 ? tr("Opening %1: %2, %3 of %4").arg(what, stage).arg(done).arg(total)
                                   : tr("Opening %1: %2").arg(what, stage);
    if (!showsStartPage()) statusBar()->showMessage(progress_message_ = text);
    start_->setProgress(true, text);
  });
  connect(&document_, &Document::opened, this, [this](const Source& source) {
    settings_.addRecent(QFileInfo(source.path).absoluteFilePath());
    start_->setRecent(settings_.recent());
    const ProgramTotals& totals = document_.plan()->totals;
    statusBar()->showMessage(
        tr("%1, %2 predicted")
            .arg(qt(counted(totals.groups, "group")),
                 full_time_text(totals.cycles, document_.plan()->program().target.clock_hz, look_.units())),
        8000);
    putProblemsBack();
    if (!document_.diagnostics().entries().empty()) raiseProblems();
  });
  connect(&document_, &Document::checkedOpened, this, [this](const Source& source) {
    settings_.addRecent(QFileInfo(source.path).absoluteFilePath());
    start_->setRecent(settings_.recent());
    const bool is_first = showsStartPage();
    showStart(false);
    // Without a plan the other panes have nothing to show.
    if (is_first && first_layout_.isEmpty()) setLayoutNamed(QStringLiteral("check"));
    if (!document_.diagnostics().entries().empty()) raiseProblems();
    raisePane("check");
    statusBar()->showMessage(tr("%1: nests, checked").arg(source.path), 8000);
  });
  connect(&document_, &Document::openingFailed, this, [this](const Source& source) {
    showStart(false);
    raiseProblems();
    const auto entries = document_.diagnostics().entries();
    statusBar()->showMessage(entries.empty() ? tr("%1 could not be opened").arg(source.path)
                                             : qt(entries.front().message));
  });
  connect(&document_, &Document::jobsFound, this, &MainWindow::askForJob);
  connect(cancel_, &QToolButton::clicked, &document_, &Document::cancel);
  connect(start_, &StartPage::cancelRequested, &document_, &Document::cancel);
  connect(start_, &StartPage::openRequested, this, [this](const QString& path) { open({path, {}}); });
  connect(start_, &StartPage::sampleRequested, this, [this](const QString& folder) {
    // Who has no arrangement yet and tries a sample wants to be shown how a plan comes about.
    if (first_layout_.isEmpty() && settings_.layout(QString()).isEmpty()) first_layout_ = QStringLiteral("teach");
    open({folder, {}});
  });
  connect(start_, &StartPage::modelDialogRequested, this, &MainWindow::askForModel);
  connect(start_, &StartPage::folderDialogRequested, this, &MainWindow::askForFolder);
}

void MainWindow::raiseProblems() {
  QDockWidget* problems = docks_.find("problems")->second;
  if (problems->visibleRegion().isEmpty()) {
    problems_were_hidden_ = problems->isHidden();
    for (QDockWidget* dock : tabifiedDockWidgets(problems)) {
      if (!dock->visibleRegion().isEmpty()) behind_problems_ = dock;
    }
  }
  raisePane("problems");
}

void MainWindow::putProblemsBack() {
  QDockWidget* problems = docks_.find("problems")->second;
  QDockWidget* behind = std::exchange(behind_problems_, nullptr);
  const bool hide = std::exchange(problems_were_hidden_, false);
  if (problems->visibleRegion().isEmpty()) return;  // somebody has put them away already
  if (behind != nullptr && !behind->isHidden()) behind->raise();
  if (hide) problems->hide();
  if (last_dock_ == problems && behind != nullptr && !behind->isHidden()) chooseDock(*behind);
  giveKeyboard();
}

void MainWindow::markStale() {
  QString why;
  switch (document_.staleness()) {
    case Staleness::none: break;
    case Staleness::without_edits: why = tr("It shows the plan without the edits of What if."); break;
    case Staleness::discarded_edits: why = tr("It shows the plan with edits that What if has discarded."); break;
    case Staleness::other_edits: why = tr("It shows the plan with other edits than those of What if."); break;
  }
  for (const PaneRow& row : pane_table()) {
    const bool behind = document_.stale() && row.name != "whatif" && row.name != "problems";
    const QString title = qt(row.title);
    QDockWidget* dock = docks_.find(row.name)->second;
    dock->setWindowTitle(behind ? tr("⚠ %1 (stale)").arg(title) : title);
    dock->setToolTip(behind ? why : QString());
  }
}

void MainWindow::showPlan() {
  const PlanPtr plan = document_.plan();
  if (!plan) return;
  showStart(false);
  QString what = tr("%1 on %2").arg(qt(plan->compilation.network), qt(plan->program().target.name));
  // A plan that was made here goes by the name under which it can be compared.
  for (const KeptPlan& kept : document_.kept()) {
    if (kept.plan == plan && kept.plan != document_.kept().front().plan) what += QStringLiteral(", ") + kept.name;
  }
  setWindowTitle(tr("%1 – Stowage inspector").arg(what));
  if (selection_.subject() == Subject{}) selection_.select(step_subject(costliest_step(*plan)));
}

void MainWindow::showStart(bool start) {
  if (start != centralWidget()->isHidden() && start == showsStartPage()) return;
  centralWidget()->setVisible(start);
  if (start) {
    for (const auto& [name, dock] : docks_) dock->hide();
    return centralWidget()->setFocus();
  }
  if (!first_layout_.isEmpty()) {
    setLayoutNamed(first_layout_);
  } else if (!restoreArrangement(QString())) {
    setLayoutNamed(QStringLiteral("compile"));
  }
  giveKeyboard();
  if (!first_pane_.isEmpty()) raisePane(std::exchange(first_pane_, {}).toStdString());
}

bool MainWindow::restoreArrangement(const QString& name) {
  const Arranging arranging(*this);
  return restoreState(settings_.layout(name), layout_version);
}

MainWindow::Arranging::Arranging(MainWindow& window) : window_(window) {
  for (const auto& [name, pane] : window_.panes_) pane->setArranging(true);
}

MainWindow::Arranging::~Arranging() {
  for (const auto& [name, pane] : window_.panes_) pane->setArranging(false);
}

bool MainWindow::showsStartPage() const { return !centralWidget()->isHidden(); }

void MainWindow::open(const Source& source) { open(source, {}); }
void MainWindow::open(const Source& source, const Source& baseline) {
  whenSaved([this, source, baseline] { document_.open(source, baseline); });
}

void MainWindow::whenSaved(std::function<void()> then) {
  const auto row =
      std::find_if(panes_.begin(), panes_.end(), [](const auto& entry) { return !entry.second->unsaved().isEmpty(); });
  if (row == panes_.end()) return then();
  if (question_ != nullptr) return;  // it stands in front of the window
  Pane* pane = row->second;
  question_ = new QMessageBox(QMessageBox::Warning, tr("Edits that are not saved"),
                              tr("Save %1 as TOML? Otherwise they are lost.").arg(pane->unsaved()),
                              QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
  question_->setTextFormat(Qt::PlainText);
  question_->setDefaultButton(QMessageBox::Save);
  question_->setAttribute(Qt::WA_DeleteOnClose);
  connect(question_, &QMessageBox::finished, this, [this, pane, then = std::move(then)](int answer) {
    question_ = nullptr;
    if (answer == QMessageBox::Discard) then();
    if (answer == QMessageBox::Save) pane->save([this, then] { whenSaved(then); });
  });
  question_->open();
}

void MainWindow::askForModel() {
  const QString path =
      QFileDialog::getOpenFileName(this, tr("Open model, batch file or nest"), QString(),
                                   tr("Models, batch files and nests (*.onnx *.toml *.nest);;All files (*)"));
  if (!path.isEmpty()) open({path, {}});
}

void MainWindow::askForFolder() {
  const QString path = QFileDialog::getExistingDirectory(this, tr("Open compiled folder"));
  if (!path.isEmpty()) open({path, {}});
}

void MainWindow::askForJob(const QString& path, const QStringList& jobs) {
  bool accepted = false;
  const QString job = QInputDialog::getItem(this, tr("Batch file"), tr("Job to compile:"), jobs, 0, false, &accepted);
  if (accepted) document_.open({path, job});  // about edits it was asked before
}

void MainWindow::find() {
  const QDockWidget* dock = currentDock();
  if (dock == nullptr) return;
  if (QLineEdit* line = paneIn(*dock).searchLine()) {
    line->setFocus(Qt::ShortcutFocusReason);
    line->selectAll();
  } else {
    statusBar()->showMessage(tr("%1 has nothing to search").arg(dock->windowTitle()), 5000);
  }
}

void MainWindow::exportCurrent() {
  QDockWidget* dock = currentDock();
  if (dock == nullptr || !(document_.plan() || document_.checked())) return;
  const QString name = dock->objectName();
  Pane& pane = paneIn(*dock);
  const QString filter = pane.specialFormats().isEmpty() ? tr("Pictures (*.svg *.png *.pdf)")
                                                         : tr("Pictures (*.svg *.png *.pdf);;Pages (*.html)");
  const QString path = QFileDialog::getSaveFileName(this, tr("Export %1").arg(dock->windowTitle()),
                                                    name + QStringLiteral(".svg"), filter);
  if (path.isEmpty()) return;
  exportPane(pane, path);
}

void MainWindow::exportPane(Pane& pane, const QString& path) {
  statusBar()->showMessage(tr("Saving %1…").arg(path));
  exporting_.start([this, path, work = prepare_export(pane, path)](const std::stop_token&,
                                                                   const ProgressSink&) -> Background::Deliver {
    return [this, path, problem = work()] {
      statusBar()->showMessage(problem.isEmpty() ? tr("Saved %1").arg(path) : problem, 10000);
    };
  });
}

void MainWindow::showHelp() {
  if (help_ == nullptr) help_ = new HelpWindow(look_, this);
  const QDockWidget* dock = showsStartPage() ? nullptr : currentDock();
  help_->showAt(dock != nullptr ? dock->objectName() : QString());
}

void MainWindow::settle() {
  // Layouts and animations of docks come to rest in steps, each of which asks for the next.
  constexpr int rest = 5;
  constexpr int max_rounds = 500;
  QTimer rounds;
  rounds.start(10);
  std::vector<QRect> subjects;
  for (int round = 0, quiet = 0; round < max_rounds && quiet < rest; ++round) {
    for (const auto& [name, pane] : panes_) {
      if (pane->isVisible()) pane->settle();
    }
    QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
    std::vector<QRect> now;
    for (const auto* widget : findChildren<QWidget*>()) now.push_back(widget->geometry());
    const bool busy = std::any_of(panes_.begin(), panes_.end(),
                                  [](const auto& entry) { return entry.second->isVisible() && entry.second->busy(); });
    if (busy) round = 0;  // a job ends; only coming to rest is given up on
    quiet = now == subjects && !busy ? quiet + 1 : 0;
    subjects = std::move(now);
  }
}

void MainWindow::restyle() {
  apply_to_application(look_);
  settings_.save(look_);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls() && !event->mimeData()->urls().isEmpty() &&
      event->mimeData()->urls().front().isLocalFile()) {
    event->acceptProposedAction();
  }
}

void MainWindow::dropEvent(QDropEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (urls.isEmpty()) return;
  event->acceptProposedAction();
  const Source source{urls[0].toLocalFile(), {}};
  if (urls.size() > 1) {
    open(source, {urls[1].toLocalFile(), {}});
  } else {
    open(source);
  }
}

void MainWindow::closeEvent(QCloseEvent* event) {
  const bool asks =
      std::any_of(panes_.begin(), panes_.end(), [](const auto& entry) { return !entry.second->unsaved().isEmpty(); });
  if (asks && !leaving_) {
    event->ignore();
    whenSaved([this] {
      leaving_ = true;
      close();
    });
    return;
  }
  leaving_ = false;
  document_.cancel();
  settings_.saveGeometry(saveGeometry());
  putProblemsBack();
  if (!showsStartPage()) settings_.saveLayout(QString(), saveState(layout_version));
  QMainWindow::closeEvent(event);
}

}  // namespace stowage::inspector
