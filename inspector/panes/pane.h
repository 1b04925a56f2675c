// SPDX-License-Identifier: Apache-2.0
// What every pane is: a widget that shows one side of the document, follows the selection, and draws itself for export.
// A pane knows the document, the selection and the look, never another pane. docs/inspector.md says how to add one.
#pragma once

#include <QPainter>
#include <QWidget>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "inspector/look/look.h"
#include "inspector/state/deferred_work.h"
#include "inspector/state/document.h"
#include "inspector/state/selection.h"

class QLineEdit;

namespace stowage::inspector {

/// What is left of an export for a worker thread: writes, and returns what went wrong, in a sentence, empty when done.
using ExportWork = std::function<QString()>;

/// What panes share. References outlive every pane.
struct PaneContext {
  Document& document;
  Selection& selection;
  Look& look;
  std::shared_ptr<DeferredWork> deferred = std::make_shared<DeferredWork>();
};

class Pane : public QWidget {
  Q_OBJECT
 public:
  explicit Pane(const PaneContext& context);

  /// Size in which the pane draws itself best, in pixels. `room` is a wish; text must not be cut off to meet it.
  [[nodiscard]] virtual QSizeF exportSize(QSizeF room) = 0;
  /// Draws what it shows, all of it (not only what is scrolled to), into the rectangle from (0, 0) of that size.
  virtual void draw(QPainter& painter, QSizeF size) = 0;

  /// For what no single picture holds, a lecture of many pages, say. Nothing where the path asks for a picture.
  virtual std::optional<ExportWork> exportSpecial(const QString& path, QSizeF room);
  /// Of these, for messages: ".html is …". Empty without any.
  [[nodiscard]] virtual QString specialFormats() const { return {}; }

  /// Applies what is pending now, shown or not. Export and tests call it.
  void flush();
  /// While a window is arranged anew its panes come and go. Those that stay are told afterwards.
  void setArranging(bool arranging);
  /// A tab behind others counts as visible to Qt; this is said when it comes in front.
  void cameInSight() { note(sight_changed); }
  /// Whether something that its picture shows is being worked out beside the window's thread.
  [[nodiscard]] virtual bool working() const { return context_.document.comparing(); }
  /// Whether that or anything else is, which may take long.
  [[nodiscard]] virtual bool busy() const { return working(); }
  /// Begins to work out what it shows only when it is asked, as somebody would ask first; false where it shows all by
  /// itself. For exports without a window, which wait while it is busy.
  virtual bool askFirst() { return false; }
  /// Flushes, and waits until it is not working. For exports.
  void settle();

  /// What a person made here and has not saved, in words for a question: "the edits of conv2". Empty: nothing.
  [[nodiscard]] virtual QString unsaved() const { return {}; }
  /// Lets a person save that; `then` is called once it is saved, and not at all otherwise.
  virtual void save(std::function<void()> then);

  /// The widget that arrow keys are for, as the pane is now.
  [[nodiscard]] virtual QWidget& mainView() = 0;
  /// The line that Ctrl+F goes to, brought into sight; null where there is nothing to search.
  virtual QLineEdit* searchLine() { return nullptr; }
  /// Gives the main view the keyboard.
  void takeKeyboard();
  /// Whether anybody can see it. What is much work on a large plan waits for that, and for sight_changed.
  [[nodiscard]] bool inSight() const;

 Q_SIGNALS:
  /// A sentence for the status bar.
  void message(const QString& text);
  /// That sentence no longer holds.
  void messageOver(const QString& text);

 protected:
  enum Change : unsigned {
    plan_changed = 1,
    selection_changed = 2,
    hover_changed = 4,
    look_changed = 8,
    comparison_changed = 16,
    sight_changed = 32,
    time_changed = 64  ///< the timeline's cursor
  };
  /// What changed since the last call, several changes at once. Hidden panes are told when they are shown.
  virtual void refresh(unsigned changes) = 0;

  /// Of the last refresh: what the pane has made of a plan is of that one, until its turn comes after another was
  /// opened. Null while hidden from then on.
  [[nodiscard]] const PlanPtr& plan() const { return plan_; }
  /// Of what is shown with its baseline; null without one.
  [[nodiscard]] const PlanComparison* comparison() const {
    return isUpToDate() ? context_.document.comparison().get() : nullptr;
  }
  /// In that plan: nothing is chosen while another is open.
  [[nodiscard]] const Subject& subject() const { return isUpToDate() ? context_.selection.subject() : nowhere_; }
  /// The step that is chosen, or null; a view's step has no plan.
  [[nodiscard]] const StepFacts* step() const;
  [[nodiscard]] const Theme& theme() const { return context_.look.theme(); }
  [[nodiscard]] const Look& look() const { return context_.look; }
  [[nodiscard]] Document& document() const { return context_.document; }
  [[nodiscard]] Selection& selection() const { return context_.selection; }

  void showEvent(QShowEvent* event) override;

 private:
  void note(unsigned change);
  void askForTurn();
  [[nodiscard]] bool isUpToDate() const { return plan_ == context_.document.plan(); }

  PaneContext context_;
  PlanPtr plan_;
  Subject nowhere_;
  unsigned pending_ = plan_changed | selection_changed | hover_changed | look_changed | comparison_changed;
  bool arranging_ = false;
};

/// A row of the table of panes.
struct PaneRow {
  std::string_view name;                              ///< on the command line and in saved layouts
  std::string_view title;                             ///< of the dock
  std::string_view summary;                           ///< one sentence: what it shows
  Qt::DockWidgetArea area = Qt::RightDockWidgetArea;  ///< where it stands at first
  std::function<Pane*(const PaneContext&)> make;
  bool of_group = false;  ///< it shows one fused operator, and nothing until one is chosen
};
/// All panes, in the order of the View menu and of Ctrl+1, Ctrl+2 ….
std::span<const PaneRow> pane_table();
const PaneRow* find_pane(std::string_view name);

}  // namespace stowage::inspector
