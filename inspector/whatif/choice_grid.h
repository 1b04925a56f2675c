// SPDX-License-Identifier: Apache-2.0
// Boxes for what is one of a few: of each tensor its slots, who loads it and along what it is kept, and a row for each
// choice of the group. The first entry of a box leaves the choice to the planner and says what that chose.
#pragma once

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QWidget>
#include <map>

#include "inspector/whatif/session.h"

namespace stowage::inspector {

class ChoiceGrid : public QWidget {
  Q_OBJECT
 public:
  enum class Of : std::uint8_t { tensors, group };
  ChoiceGrid(Of of, WhatIfSession& session, QWidget* parent = nullptr);
  /// Shows what there is to choose, and what of it is fixed.
  void refresh(const GroupControls& controls, const Schedule& fixed);
  [[nodiscard]] bool isEmpty() const { return controls_.empty(); }
  /// Null where there is no such choice.
  [[nodiscard]] QComboBox* box(ChosenPart part, const std::string& tensor = {});

 private:
  using Key = std::pair<std::string, ChosenPart>;
  void make();
  void makeTensors(QGridLayout* grid);
  void makeGroup(QGridLayout* grid);
  QLabel* head(ChosenPart part);
  void makeBox(QGridLayout* grid, int line, int column, const ChoiceControl& control);
  void show(QComboBox* box, const ChoiceControl& control, const Schedule& fixed);
  void choose(const Key& key, int entry);

  Of of_;
  WhatIfSession& session_;
  QWidget* rows_ = nullptr;
  std::vector<ChoiceControl> controls_;  ///< that are shown
  std::map<Key, QComboBox*> boxes_;
};

}  // namespace stowage::inspector
