// SPDX-License-Identifier: Apache-2.0
// The window: menus, the panes as docks, the breadcrumb, the status line with progress and cancel. It knows panes only
// by the table of panes.
#pragma once

#include <QMainWindow>
#include <QMessageBox>
#include <QPointer>
#include <QProgressBar>
#include <QStackedWidget>
#include <functional>
#include <map>
#include <string>

#include "inspector/look/look.h"
#include "inspector/panes/pane.h"
#include "inspector/state/document.h"
#include "inspector/state/selection.h"
#include "inspector/window/breadcrumb.h"
#include "inspector/window/help.h"
#include "inspector/window/settings.h"
#include "inspector/window/start_page.h"

class QDockWidget;
class QToolButton;

namespace stowage::inspector {

/// Arrangements that come with the program: name and the panes it shows.
std::vector<QString> layout_names();

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  MainWindow();
  ~MainWindow() override;

  /// Asks first where edits would be lost.
  void open(const Source& source);
  void open(const Source& source, const Source& baseline);
  /// Arranges the panes for a purpose: "compile", "memory", "check" or "teach".
  void setLayoutNamed(const QString& name);
  /// Waits until no pane that is shown is busy and everything has its place. For pictures of the window.
  void settle();
  /// Instead of the last run's arrangement, once something is open.
  void setFirstLayout(const QString& name) { first_layout_ = name; }
  /// In front once something is open.
  void setFirstPane(const QString& name) { first_pane_ = name; }

  [[nodiscard]] Document& document() { return document_; }
  [[nodiscard]] Selection& selection() { return selection_; }
  [[nodiscard]] Look& look() { return look_; }
  [[nodiscard]] Breadcrumb& breadcrumb() { return *breadcrumb_; }
  /// Null for a pane that there is not.
  [[nodiscard]] Pane* pane(std::string_view name);
  [[nodiscard]] bool showsStartPage() const;
  void raisePane(std::string_view name);
  /// Writes beside the window's thread; the status bar says what became of it.
  void exportPane(Pane& pane, const QString& path);
  [[nodiscard]] bool exporting() const { return exporting_.busy(); }
  [[nodiscard]] StartPage& startPage() { return *start_; }
  [[nodiscard]] HelpWindow* help() { return help_; }

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void childEvent(QChildEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;
  void closeEvent(QCloseEvent* event) override;

 private:
  /// Qt shows every dock for a moment before it goes behind another one; while this lives no pane works for that.
  class Arranging {
   public:
    explicit Arranging(MainWindow& window);
    ~Arranging();
    Arranging(const Arranging&) = delete;
    Arranging& operator=(const Arranging&) = delete;

   private:
    MainWindow& window_;
  };

  void makePanes();
  void makeMenus();
  void makeFileMenu();
  void makeViewMenu();
  void makeGoMenu();
  void connectDocument();
  void showPlan();
  void markStale();
  void raiseProblems();
  /// The arrangement as it was before there were problems, unless somebody has changed it since.
  void putProblemsBack();
  void showStart(bool start);
  void tabHiddenBehind(QDockWidget* front);
  bool restoreArrangement(const QString& name);
  void askForModel();
  void askForFolder();
  void askForJob(const QString& path, const QStringList& jobs);
  void exportCurrent();
  /// Goes on at once where nothing is unsaved; else asks, and goes on when it is saved or may go.
  void whenSaved(std::function<void()> then);
  void find();
  void showHelp();
  void restyle();
  [[nodiscard]] Pane& paneIn(const QDockWidget& dock) const;
  /// The dock whose tab has this text; null without one.
  [[nodiscard]] QDockWidget* dockTitled(const QString& title) const;
  /// Gives a dock's pane the keyboard, unless it has it or is behind another.
  void chooseDock(const QDockWidget& dock);
  /// Where no pane in sight has the keyboard, the first one gets it.
  void giveKeyboard();
  /// That has the keyboard, or had it last: in sight. Null where no pane is.
  [[nodiscard]] QDockWidget* currentDock() const;

  static constexpr int layout_version = 2;  ///< of saved arrangements; 2: docks that are hidden have a place
  Settings settings_;
  Look look_;
  Document document_;
  Selection selection_;
  std::map<std::string, Pane*, std::less<>> panes_;
  std::map<std::string, QDockWidget*, std::less<>> docks_;
  StartPage* start_ = nullptr;
  Breadcrumb* breadcrumb_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QString progress_message_;  ///< of what is being opened, in the status bar
  QToolButton* cancel_ = nullptr;
  HelpWindow* help_ = nullptr;  ///< made when it is asked for
  QString first_layout_;
  QString first_pane_;
  // While problems are in front because there are some: what they hide, and whether they were shown at all.
  QDockWidget* behind_problems_ = nullptr;
  bool problems_were_hidden_ = false;
  QDockWidget* last_dock_ = nullptr;  ///< that had the keyboard
  QPointer<QMessageBox> question_;    ///< while it asks about what is not saved
  bool leaving_ = false;              ///< the question was answered
  Background looking_;                ///< for samples
  Background exporting_;
};

}  // namespace stowage::inspector
