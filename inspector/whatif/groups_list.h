// SPDX-License-Identifier: Apache-2.0
// The fusion choice of what-if: every other way to group the operators around what is chosen, with its cycles; a double
// click or Enter takes one. Ways that a rule refuses stand below with the rule.
#pragma once

#include <QTreeWidget>
#include <optional>

#include "inspector/look/look.h"
#include "inspector/whatif/session.h"

namespace stowage::inspector {

class GroupsList : public QTreeWidget {
  Q_OBJECT
 public:
  GroupsList(WhatIfSession& session, const Look& look, QWidget* parent = nullptr);
  /// Shows what the session has now.
  void refresh();
  /// The row of a way that makes exactly these groups, in words ("conv1 | relu1"), or -1.
  [[nodiscard]] int rowOf(const QString& groups) const;
  void take(int row);

 Q_SIGNALS:
  /// A way that cannot be was asked for.
  void refused(const QString& sentence);

 protected:
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 private:
  void fill();
  /// Cells of what is not known stay empty.
  void add(const QString& way, const Grouping& groups, std::optional<std::int64_t> cycles,
           std::optional<std::int64_t> change, const QString& tip);

  WhatIfSession& session_;
  const Look& look_;
  struct Choice {
    Grouping groups;
    QString words;    ///< for the menu of undo
    QString refusal;  ///< a sentence if it cannot be
  };
  std::vector<Choice> choices_;
};

}  // namespace stowage::inspector
