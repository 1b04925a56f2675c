// SPDX-License-Identifier: Apache-2.0
// What is chosen, for all panes at once, with its history. Panes write to it and listen to it; they never know each
// other.
#pragma once

#include <QObject>
#include <optional>
#include <vector>

#include "inspector/state/loaded_plan.h"
#include "inspector/state/time_cursor.h"

namespace stowage::inspector {

class Document;

class Selection : public QObject {
  Q_OBJECT
 public:
  explicit Selection(const Document& document, QObject* parent = nullptr);

  [[nodiscard]] const Subject& subject() const { return history_[current_]; }
  /// What the pointer is over, for a passing highlight; a default Subject is nothing.
  [[nodiscard]] const Subject& hovered() const { return hovered_; }
  /// Of the timeline; nothing where it has none. It stands in a group, and says nothing of others.
  [[nodiscard]] const std::optional<TimeCursor>& timeCursor() const { return time_cursor_; }
  [[nodiscard]] bool canGoBack() const { return current_ > 0; }
  [[nodiscard]] bool canGoForward() const { return current_ + 1 < history_.size(); }

  /// Completes the subject, makes it the newest of the history and tells everybody. Choosing what is chosen is nothing.
  void select(const Subject& subject);
  void hover(const Subject& subject);
  void setTimeCursor(std::optional<TimeCursor> cursor);
  void goBack();
  void goForward();
  /// To the group, loop or network around what is chosen.
  void goUp();

 Q_SIGNALS:
  void changed();
  void hoverChanged();
  void timeCursorMoved();

 private:
  void reset();

  const Document& document_;
  PlanPtr plan_;                                ///< that the subjects are of
  std::vector<Subject> history_ = {Subject{}};  ///< never empty
  std::size_t current_ = 0;
  Subject hovered_;
  std::optional<TimeCursor> time_cursor_;
};

}  // namespace stowage::inspector
