// SPDX-License-Identifier: Apache-2.0
// The edits of one opened plan with their history, and what they come to. Evaluating runs beside the window's thread;
// while one runs, further edits wait and only the newest is evaluated next.
#pragma once

#include <QObject>
#include <QUndoStack>
#include <optional>
#include <vector>

#include "inspector/state/document.h"
#include "inspector/state/selection.h"
#include "inspector/whatif/evaluate.h"

namespace stowage::inspector {

class WhatIfSession : public QObject {
  Q_OBJECT
 public:
  WhatIfSession(Document& document, Selection& selection, QObject* parent = nullptr);

  /// The plan that is edited: what was opened, also while an edited one is shown.
  [[nodiscard]] const PlanPtr& base() const { return base_; }
  /// Of the base, with a plan.
  [[nodiscard]] std::optional<StepId> step() const { return step_; }
  /// The operator that is chosen, or the first of the chosen group: where the edit groups otherwise, its group counts.
  [[nodiscard]] OpId focus() const { return focus_; }
  [[nodiscard]] const PlanEdit& edit() const { return edit_; }
  /// What is fixed of the group that is shown.
  [[nodiscard]] Schedule fixed() const;
  [[nodiscard]] QUndoStack& history() { return history_; }

  /// Newest answer for the chosen group, perhaps a refusal; null before the first.
  [[nodiscard]] const Evaluation* latest() const { return latest_ ? &*latest_ : nullptr; }
  /// Newest one with a plan.
  [[nodiscard]] const Evaluation* legal() const { return legal_ ? &*legal_ : nullptr; }
  [[nodiscard]] bool pending() const { return evaluating_.busy() || again_; }
  /// The legal answer is of the groups as they are now, so that its knobs can be turned.
  [[nodiscard]] bool adjustable() const { return legal_ && legal_->edit.groups == edit_.groups; }

  /// Asks for the prices of other groups; regroupings() follow.
  void priceGroups();
  /// The newest prices, perhaps of another target; null before the first.
  [[nodiscard]] const GroupChoicesPtr& choices() const { return choices_; }
  [[nodiscard]] bool pricing() const { return pricing_.busy(); }
  /// Other ways to group around what is chosen, at these prices.
  [[nodiscard]] const std::vector<Regrouping>& regroupings() const { return ways_; }
  /// Fixes other groups around what is chosen.
  void regroup(const Grouping& groups, const QString& words);

  /// Makes these the edits. Changes of one `stroke` (a slider that is held) are undone together; 0 is a stroke of
  /// its own. `words` names it in the menu: "buffer y 64".
  void change(PlanEdit next, const QString& words, int stroke = 0);
  void fix(Schedule schedule, const QString& words, int stroke = 0);
  /// An empty value takes the plan's.
  void setTarget(const std::string& key, const std::string& value, const QString& words);

  struct Snapshot {
    QString name;
    PlanEdit edit;
  };
  [[nodiscard]] const std::vector<Snapshot>& snapshots() const { return snapshots_; }
  /// Remembers the edits and, planned over the network, offers them for comparing.
  void takeSnapshot(const QString& name);
  void restoreSnapshot(std::size_t index);

  /// Plans the whole network with the edits and shows it, what was opened as its baseline.
  void planNetwork();
  void cancelPlanning() { planning_.cancel(); }
  [[nodiscard]] bool planning() const { return planning_.busy(); }
  /// How what the other panes show stands to these edits.
  [[nodiscard]] Staleness staleness() const;
  [[nodiscard]] bool stale() const { return staleness() != Staleness::none; }

  /// Edits of a plan; the plan is what was opened, also where edits of another one were made meanwhile.
  struct Unsaved {
    PlanPtr plan;
    PlanEdit edit;
  };
  /// Edits that would be lost: of this plan, else of one that was shown before it and is open still.
  [[nodiscard]] std::optional<Unsaved> unsaved() const;
  void markSaved(const PlanPtr& plan, const PlanEdit& edit);

 Q_SIGNALS:
  void changed();    ///< edits, group, or what is stale
  void evaluated();  ///< latest() and regroupings() are new
  void priced();     ///< prices are asked for, or there
  void planningChanged();
  void planningProgress(const QString& stage, int done, int total);
  void failed(const QString& sentence);  ///< planning the network

 private:
  friend class EditCommand;
  void set(const PlanEdit& edit);
  void follow();
  void evaluateNow();
  bool pick();
  void startPlanning(const QString& name, bool show);
  void putAway();
  /// Goes on with what was put away of this plan, or of the one of which it was made.
  void takeBack(const PlanPtr& shown);

  Document& document_;
  Selection& selection_;
  PlanPtr base_;
  std::optional<StepId> step_;
  OpId focus_;
  PlanEdit edit_;
  PlanEdit saved_;  ///< as they were last saved
  PlanEdit shown_;  ///< edits of what the document shows
  std::optional<Evaluation> latest_;
  std::optional<Evaluation> legal_;
  bool again_ = false;  ///< edits came while evaluating
  std::vector<Snapshot> snapshots_;
  struct Planned {
    PlanEdit edit;
    PlanPtr plan;
  };
  std::vector<Planned> planned_;  ///< networks made of the base
  /// What was made of a plan while another is shown, the baseline say; gone when another network is opened.
  struct PutAway {
    PlanPtr base;
    PlanEdit edit;
    PlanEdit saved;
    std::vector<Snapshot> snapshots;
    std::vector<Planned> planned;
  };
  std::vector<PutAway> put_away_;
  QUndoStack history_;
  GroupChoicesPtr choices_;
  std::vector<Regrouping> ways_;
  std::map<std::string, std::string> asked_target_;  ///< of the prices that are asked for
  Background pricing_;
  Background evaluating_;
  Background planning_;
};

}  // namespace stowage::inspector
